import { RE2JS } from 're2js';

export interface LinearPattern {
  test(text: string): boolean;
  /** Ajv takes two patterns for one when they read alike as texts. */
  toString(): string;
}

/**
 * A regular expression of a stranger, matched in time linear in the text; JavaScript's own engine can be made to try
 * for hours. Throws for what such an engine cannot do (look-around, back references) and for what is no expression.
 */
export function linearPattern(source: string): LinearPattern {
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
  return { test: (text) => pattern.matcher(text).find(), toString: () => `/${source}/` };
}

/** Ajv writes `code` out only for validators that are stored as source, which none of ours is. */
linearPattern.code = 'linearPattern';

export function isLinear(source: string): boolean {
  try {
    linearPattern(source);
    return true;
  } catch {
    return false;
  }
}
