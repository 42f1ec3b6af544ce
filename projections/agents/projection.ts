import type { ProjectedRow, Projection } from '../projection.js';

/** A registered agent with its parsed specification. */
export interface AgentRow extends ProjectedRow {
  readonly id: string;
  readonly name: string;
  readonly owner: string | null;
  readonly harness: string | null;
  readonly sub_agents: readonly string[];
  readonly spec: Readonly<Record<string, unknown>> | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export const agentsProjection: Projection<AgentRow> = {
  name: 'agents',
  version: 1,
  table: {
    name: 'agents',
    columns: {
      id: 'text',
      name: 'text',
      owner: 'text',
      harness: 'text',
      sub_agents: 'text[]',
      spec: 'json',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
      position: 'bigint',
    },
    primaryKey: ['id'],
    guards: ['position'],
    indexes: ['(owner, position DESC)'],
    hot: [],
    insertOnly: false,
  },
  keysOf: ({ event, subjectId }) => (event.type === 'AgentRegistered' ? [[subjectId]] : []),
  apply({ event, subjectId, recordedAt, position }, rows) {
    if (event.type !== 'AgentRegistered' || rows.get([subjectId])) return;
    const { name, owner, harness, sub_agents, spec } = event.data;
    rows.put({
      id: subjectId,
      name,
      owner,
      harness,
      sub_agents,
      spec,
      created_at: recordedAt,
      updated_at: recordedAt,
      position,
    });
  },
};
