/** .NET inline options at the start of a pattern, which RegExp knows as flags. */
const INLINE_OPTIONS = /^\(\?([ims]+)\)/;
/** One token: a general category, another escape, the begin of a class, or any other character. */
const TOKEN = /\\[pP]\{[A-Z][a-z]?\}|\\[\s\S]|\[\^?|[\s\S]/gu;

/** What means less in JavaScript than in .NET: letters and digits of all scripts, and where a text or line ends. */
const WORD = '\\p{L}\\p{Mn}\\p{Nd}\\p{Pc}';
const AT_BEGIN = '(?<![\\s\\S])';
const AT_END = '(?![\\s\\S])';
const BEFORE_LAST_NEWLINE = '(?=\\n?(?![\\s\\S]))';
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\A', AT_BEGIN],
  ['\\z', AT_END],
  ['\\Z', BEFORE_LAST_NEWLINE],
  ['\\d', '\\p{Nd}'],
  ['\\D', '\\P{Nd}'],
  ['\\w', `[${WORD}]`],
  ['\\W', `[^${WORD}]`],
  ['\\b', `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`],
  ['\\B', `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`],
]);
const ESCAPES_IN_CLASS: ReadonlyMap<string, string> = new Map([
  ['\\d', '\\p{Nd}'],
  ['\\D', '\\P{Nd}'],
  ['\\w', WORD],
]);

/**
 * The RegExp that finds what a .NET pattern finds, or undefined when there is none to be sure of: whatever the two
 * might read differently is refused. The flag `u` makes JavaScript refuse what it does not know.
 */
export function compileDotNetPattern(pattern: string): RegExp | undefined {
  const options = INLINE_OPTIONS.exec(pattern);
  const flags = options?.[1] ?? '';
  const source = translate(options === null ? pattern : pattern.slice(options[0].length), flags);
  if (source === undefined) return undefined;
  try {
    // Lines are in the translation: RegExp ends them at more than a newline.
    return new RegExp(source, `${flags.replaceAll(/[ms]/g, '')}u`);
  } catch {
    return undefined;
  }
}

function translate(pattern: string, flags: string): string | undefined {
  const plain = plainTokens(flags);
  let translated = '';
  let inClass = false;
  let before = '';
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (readDifferently(token, before, inClass, flags)) return undefined;
    if (token.startsWith('\\')) translated += escape(token, inClass);
    else translated += (inClass ? undefined : plain.get(token)) ?? token;
    if (token.startsWith('[')) inClass = true;
    else if (token === ']') inClass = false;
    before = token;
  }
  return translated;
}

/** What compiles in both languages, but into something else, and has no translation here. */
function readDifferently(token: string, before: string, inClass: boolean, flags: string): boolean {
  // In .NET a bracket that comes first is itself, and a class can be subtracted from another.
  if (inClass && token === ']' && before.startsWith('[')) return true;
  if (inClass && token.startsWith('[') && before === '-') return true;
  if (inClass && token === '\\W') return true;
  // Properties that are no general categories, and code points in braces, are JavaScript's alone.
  if (token === '\\p' || token === '\\P' || (before === '\\u' && token === '{')) return true;
  // Whether the case is ignored of what is defined by its case.
  return flags.includes('i') && /^\\p\{L[ult]\}$/i.test(token);
}

function plainTokens(flags: string): ReadonlyMap<string, string> {
  const lines = flags.includes('m');
  return new Map([
    ['.', flags.includes('s') ? '[\\s\\S]' : '[^\\n]'],
    ['^', lines ? '(?<![^\\n])' : AT_BEGIN],
    ['$', lines ? '(?![^\\n])' : BEFORE_LAST_NEWLINE],
  ]);
}

/** JavaScript refuses the escapes of characters that need none, which .NET's own escaping makes. */
function escape(token: string, inClass: boolean): string {
  const known = (inClass ? ESCAPES_IN_CLASS : ESCAPES).get(token);
  if (known !== undefined) return known;
  if (inClass && token === '\\-') return token;
  return /^\\[^\w$()*+./?[\\\]^{|}]$/u.test(token) ? token.slice(1) : token;
}
