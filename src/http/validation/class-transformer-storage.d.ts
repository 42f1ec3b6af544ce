/** Where `@Type()` keeps what it was told; class-transformer ships the module but no types beside it. */
declare module 'class-transformer/cjs/storage.js' {
  interface TypeMetadata {
    readonly reflectedType: unknown;
    readonly typeFunction: () => abstract new (...args: never[]) => unknown;
  }

  export const defaultMetadataStorage: {
    findTypeMetadata(target: object, property: string): TypeMetadata | undefined;
  };
}
