import { randomUUID } from 'node:crypto';

/** A name that no other spec uses: suites share one server and keep apart by their ids. */
export function unique(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 12).replaceAll('-', '')}`;
}
