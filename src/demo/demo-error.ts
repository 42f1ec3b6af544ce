/** Ends the demo with one line that says what to do. */
export class DemoError extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
    this.name = 'DemoError';
  }
}
