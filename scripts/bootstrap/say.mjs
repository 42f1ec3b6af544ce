/** One short line about what the bootstrap does, on stderr so that a target's stdout stays its own. */
export function say(line) {
  process.stderr.write(`rollcall: ${line}\n`);
}

/** A failure that the user can act on: shown as one line, without a stack. */
export class BootstrapError extends Error {}
