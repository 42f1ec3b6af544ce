const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** A plain decimal number; any other text (`1e3`, ` 5`, `0x5`, empty) is given back as it is, for the rules to refuse. */
export function parseQueryNumber(text: string): number | string {
  return DECIMAL.test(text) ? Number(text) : text;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on', 't', 'y'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off', 'f', 'n'].map((word) => [word, false] as const),
]);

/** The words that pydantic reads; any other text is given back as it is, for the rules to refuse. */
export function parseQueryBoolean(text: string): boolean | string {
  return BOOLEANS.get(text.toLowerCase()) ?? text;
}
