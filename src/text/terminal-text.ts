import stringWidth from 'string-width';

/**
 * Escape sequences of ECMA-48: control sequences, strings such as titles and links, and the short ones. Written out,
 * because the expressions that libraries use take visible text along (`ESC[2J text BEL` whole).
 */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-OQ-WYZ`-~]/g;
const BLANKS = /[\s\u2028\u2029]+/gu;
/** C0 and DEL have pictures of their own. */
const C0 = /[\u0000-\u001f\u007f]/g;
/** C1, and what turns the direction of the text around it. */
const DECEPTIVE = /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** Direction and byte order marks show nothing and turn nothing but themselves. */
const MARKS = /[\u061c\u200e\u200f\ufeff]/g;
const FIRST_PICTURE = 0x2400;
const DELETE = 0x7f;
const DELETE_PICTURE = '\u2421';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * One line that is safe to print whoever wrote it: escape sequences are gone, other control characters are shown
 * instead of obeyed.
 */
export function plain(text: string): string {
  return text
    .toWellFormed()
    .replace(SEQUENCES, '')
    .replace(MARKS, '')
    .replace(BLANKS, ' ')
    .replace(C0, picture)
    .replace(DECEPTIVE, '\ufffd')
    .trim();
}

/** Columns that the text takes in a terminal. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The text in at most `width` columns, with an ellipsis where it was cut; never inside what is seen as one character. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let taken = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = taken + widthOf(segment);
    if (next > width - 1) break;
    kept += segment;
    taken = next;
  }
  return `${kept.trimEnd()}…`;
}

/** `fit`, filled with blanks to exactly `width` columns. */
export function column(text: string, width: number): string {
  const fitted = fit(text, width);
  return fitted + ' '.repeat(Math.max(0, width - widthOf(fitted)));
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  return code === DELETE ? DELETE_PICTURE : String.fromCharCode(FIRST_PICTURE + code);
}
