/** `none`: one anonymous principal, loopback only. `header`: a proxy in front names the user. */
export type AuthOptions =
  | { readonly mode: 'none' }
  | {
      readonly mode: 'header';
      /** Lowercase header name. */
      readonly header: string;
      /** Taken off the value when it is there (some proxies write `accounts.example.com:ada@…`). */
      readonly prefix: string;
      readonly administrators: ReadonlySet<string>;
    };

export type AuthMode = AuthOptions['mode'];

/** Injection token of the AuthOptions. */
export const AUTH_OPTIONS = Symbol('AuthOptions');
