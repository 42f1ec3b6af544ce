/** What a child row calls `tool` and `session_name` (`contract/sessions.md` 4.3). */
export interface Handle {
  readonly tool: string | null;
  readonly sessionName: string | null;
}

export interface TitleSources {
  readonly title: string | null;
  readonly tool: string | null;
  readonly sessionName: string | null;
}

const UI_HEAD = 'ui';
const TOMBSTONE = ':closed:';

/** A stated tool or name beats the title; what is not stated is read from the title (design 13.5). */
export function handleOf({ title, tool, sessionName }: TitleSources): Handle {
  if (tool === null) return { ...parseTitle(title), ...(sessionName === null ? {} : { sessionName }) };
  return { tool, sessionName: sessionName ?? withoutTool(title, tool) };
}

/** Splits at the first colon; `ui:<tool>:<name>` names an agent that a person added. */
export function parseTitle(title: string | null): Handle {
  if (title === null || title === '') return { tool: null, sessionName: null };
  const whole = splitAtColon(title);
  if (!whole) return { tool: title, sessionName: null };
  const inner = whole.head === UI_HEAD ? splitAtColon(whole.tail) : null;
  const { head, tail } = inner ?? whole;
  return { tool: head, sessionName: tail };
}

/**
 * The title before a legacy tombstone that names this very session, else null. Any other title with `:closed:` in it
 * is just a title (design 13.4).
 */
export function withoutTombstone(title: string, isOwnId: (text: string) => boolean): string | null {
  const last = title.lastIndexOf(TOMBSTONE);
  if (last < 0 || !isOwnId(title.slice(last + TOMBSTONE.length))) return null;
  return title.slice(0, last);
}

function withoutTool(title: string | null, tool: string): string | null {
  if (title === null || title === '' || title === tool) return null;
  for (const prefix of [`${UI_HEAD}:${tool}:`, `${tool}:`]) {
    if (title.startsWith(prefix)) return title.slice(prefix.length);
  }
  return title;
}

function splitAtColon(text: string): { head: string; tail: string } | null {
  const colon = text.indexOf(':');
  return colon < 0 ? null : { head: text.slice(0, colon), tail: text.slice(colon + 1) };
}
