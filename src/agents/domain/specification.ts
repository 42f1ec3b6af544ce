export interface SpecificationSummary {
  /** `executor.config.harness`, or `executor.type` when that is not `omnigent` (`contract/sessions.md` 2.6). */
  readonly harness: string | null;
  readonly subAgents: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/** What rows and lists show of a specification; everything else stays in it as it was given. */
export function summarise(spec: Json | null): SpecificationSummary {
  if (spec === null) return { harness: null, subAgents: [] };
  return { harness: harnessOf(spec), subAgents: subAgentsOf(spec) };
}

function harnessOf(spec: Json): string | null {
  const executor = objectIn(spec, 'executor');
  const type = textIn(executor, 'type');
  if (type !== null && type !== 'omnigent') return type;
  return textIn(objectIn(executor, 'config'), 'harness');
}

function subAgentsOf(spec: Json): string[] {
  const declared = objectIn(spec, 'tools')?.['agents'];
  const names = Array.isArray(declared)
    ? declared.filter((name): name is string => typeof name === 'string')
    : [];
  return [...new Set(names)];
}

function objectIn(source: Json | null, key: string): Json | null {
  const value = source?.[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function textIn(source: Json | null, key: string): string | null {
  const value = source?.[key];
  return typeof value === 'string' && value !== '' ? value : null;
}
