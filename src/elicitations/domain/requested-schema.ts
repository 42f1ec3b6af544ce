/** What a form asks for is a handful of fields; this is far above any of them, and cheap enough to check. */
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_SCHEMA_DEPTH = 64;

/** Why a prompt cannot be asked with this `requestedSchema`; null when it can. */
export function schemaProblem(schema: unknown): string | null {
  if (schema === undefined) return null;
  // First, since what is nested without bound cannot be written as JSON either.
  if (isDeeper(schema, MAX_SCHEMA_DEPTH))
    return `requestedSchema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes > MAX_SCHEMA_BYTES ? `requestedSchema is larger than ${MAX_SCHEMA_BYTES} bytes of JSON` : null;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
