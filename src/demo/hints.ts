import { plain } from '../text/terminal-text.js';

/** What the hints read of `GET /v1/sessions/{id}` (`contract/sessions.md` 3.2, 7.1). */
export interface Snapshot {
  readonly id: string;
  readonly title: string | null;
  readonly pending_elicitations: readonly OpenPrompt[];
}

interface OpenPrompt {
  readonly elicitation_id: string;
  readonly params: {
    readonly message: string;
    readonly target_session_id?: string;
    readonly requestedSchema?: Schema;
  };
}

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Property>>;
}

interface Property {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
}

/** What to look at next, and how to answer the first question that is still open. */
export function hintLines(snapshot: Snapshot, url: string, user: string | null): string[] {
  const session = `${url}/v1/sessions/${snapshot.id}`;
  const who = user === null ? '' : ` -H ${quoted(`X-Forwarded-Email: ${user}`)}`;
  const [prompt] = snapshot.pending_elicitations;
  return [
    'This session:',
    `  curl${who} ${session}`,
    `  curl${who} ${session}/child_sessions`,
    ...(prompt ? ['', ...answerLines(prompt, snapshot.id, url, who)] : []),
  ];
}

function answerLines(prompt: OpenPrompt, shownOn: string, url: string, who: string): string[] {
  const { message, target_session_id: target, requestedSchema } = prompt.params;
  const session = `${url}/v1/sessions/${target ?? shownOn}`;
  const content = requestedSchema ? contentFor(requestedSchema) : {};
  const verdict = { action: 'accept', ...(Object.keys(content).length > 0 ? { content } : {}) };
  return [
    `To answer “${plain(message)}”:`,
    `  curl${who} -H 'Content-Type: application/json' \\`,
    `    -d ${quoted(JSON.stringify(verdict))} \\`,
    `    ${session}/elicitations/${encodeURIComponent(prompt.elicitation_id)}/resolve`,
  ];
}

/** The least that the schema accepts, for the plain properties that prompts ask for. */
function contentFor({ required = [], properties = {} }: Schema): Record<string, unknown> {
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
}

function sampleOf(property: Property): unknown {
  if (property.enum && property.enum.length > 0) return property.enum[0];
  if (property.type === 'boolean') return true;
  if (property.type === 'integer' || property.type === 'number') return property.minimum ?? 0;
  return 'yes';
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
