import { abbreviated, firstCodePoints } from '../../text/code-points.js';
import type { TaskError } from './events.js';

export type Labels = Readonly<Record<string, string>>;

export const CLOSED_LABEL = 'omnigent.closed';
const ERROR_PREFIX = 'omnigent.last_task_error_';
const ERROR_PARTS = ['code', 'message', 'title', 'cause', 'remediation'] as const;
/** Label values are cut, keys are refused (`contract/sessions.md` 1.8). */
const VALUE_LENGTH = 256;

const RESERVED_KEYS = new Set(['omnigent.turn_actor']);
const RESERVED_PREFIXES = ['cost_control.', 'omnigent.pinned.'];

/** The first key that only the system writes (`contract/sessions.md` 2.1), else null. */
export function reservedKey(labels: Labels): string | null {
  const isReserved = (key: string): boolean =>
    RESERVED_KEYS.has(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
  return Object.keys(labels).find(isReserved) ?? null;
}

/** Labels as they are stored: values cut by code points; the closed label is a state and never stored. */
export function toStoredLabels(labels: Labels): Labels {
  const kept = Object.entries(labels).filter(([key]) => key !== CLOSED_LABEL);
  return Object.fromEntries(kept.map(([key, value]) => [key, firstCodePoints(value, VALUE_LENGTH)]));
}

export function mergeLabels(standing: Labels, added: Labels): Labels {
  return { ...standing, ...added };
}

/** Labels as every read shows them. */
export function shownLabels(labels: Labels, closed: boolean): Labels {
  return closed ? { ...labels, [CLOSED_LABEL]: 'true' } : labels;
}

/** The durable failure that a runner states in labels: code and message, both non-empty (`contract/sessions.md` 4.4). */
export function taskErrorIn(labels: Labels): TaskError | null {
  const part = (name: string): string => labels[`${ERROR_PREFIX}${name}`] ?? '';
  const [code, message] = [part('code'), part('message')];
  if (code === '' || message === '') return null;
  const details = (['title', 'cause', 'remediation'] as const).filter((name) => part(name) !== '');
  return { code, message, ...Object.fromEntries(details.map((name) => [name, part(name)])) };
}

/** The failure as labels: all five are written, empty where nothing is said (`contract/sessions.md` 6.10). */
export function taskErrorLabels(error: TaskError | null): Labels {
  const text = (name: keyof TaskError): string => abbreviated(error?.[name] ?? '', VALUE_LENGTH);
  return Object.fromEntries(ERROR_PARTS.map((name) => [`${ERROR_PREFIX}${name}`, text(name)]));
}

/** Cleared error labels stay, as empty texts (`contract/sessions.md` 4.4). */
export function withoutTaskError(labels: Labels): Labels {
  return statesTaskError(labels) ? { ...labels, ...taskErrorLabels(null) } : labels;
}

export function hasErrorText(labels: Labels): boolean {
  return Object.entries(labels).some(([key, value]) => key.startsWith(ERROR_PREFIX) && value !== '');
}

export function statesTaskError(labels: Labels): boolean {
  return Object.keys(labels).some((key) => key.startsWith(ERROR_PREFIX));
}
