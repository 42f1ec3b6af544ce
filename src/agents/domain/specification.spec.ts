import { expect, it } from '@jest/globals';
import { summarise } from './specification.js';

it.each<[Record<string, unknown> | null, string | null, string[]]>([
  [null, null, []],
  [{}, null, []],
  [{ executor: { type: 'claude-sdk' } }, 'claude-sdk', []],
  [{ executor: { type: 'omnigent', config: { harness: 'codex-native' } } }, 'codex-native', []],
  [{ executor: { config: { harness: 'cursor' } } }, 'cursor', []],
  [{ executor: { type: '', config: { harness: '' } } }, null, []],
  [{ executor: 'text', tools: { agents: 'text' } }, null, []],
  [{ executor: [], tools: { agents: ['a', 7, 'b', 'a', null] } }, null, ['a', 'b']],
])(
  'of %j the harness is %j and the sub-agents are %j (contract/sessions.md 2.6)',
  (spec, harness, subAgents) => {
    expect(summarise(spec)).toEqual({ harness, subAgents });
  },
);
