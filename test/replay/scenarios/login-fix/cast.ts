import type { Casting } from '../actor.js';
import type { Stage } from '../stage.js';

type Role = 'orchestrator' | 'researcher' | 'coder' | 'tester' | 'reviewer';

/** The team of the scenario, by role. */
export type Cast = Readonly<Record<Role, Casting>>;

const HARNESS: Readonly<Record<Role, string>> = {
  orchestrator: 'claude-sdk',
  researcher: 'claude-sdk',
  coder: 'codex-native',
  tester: 'claude-sdk',
  reviewer: 'claude-native',
};

export async function hire(stage: Stage): Promise<Cast> {
  const hired: [string, Casting][] = [];
  for (const [role, harness] of Object.entries(HARNESS)) {
    const name = `login-${role}`;
    const helpers = role === 'orchestrator' ? ['login-researcher', 'login-coder', 'login-tester'] : [];
    const spec = {
      executor: { type: 'omnigent', config: { harness } },
      ...(helpers.length > 0 ? { tools: { agents: helpers } } : {}),
    };
    const { id } = await stage.post<{ id: string }>('/v1/agents', { name, spec });
    hired.push([role, { agent: id, speaksAs: name }]);
  }
  return Object.fromEntries(hired) as Cast;
}
