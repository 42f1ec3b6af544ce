export interface Config {
  readonly port: number;
  readonly host: string;
}
