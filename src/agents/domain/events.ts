import { Type } from '@sinclair/typebox';
import { eventType, type EventOf } from '../../event-store/event-type.js';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(shape: T) =>
  Type.Union([shape, Type.Null()]);

export const agentEventTypes = [
  eventType(
    'AgentRegistered',
    1,
    Type.Object(
      {
        agent_id: Type.String(),
        name: Type.String(),
        owner: Nullable(Type.String()),
        harness: Nullable(Type.String()),
        sub_agents: Type.Array(Type.String()),
        spec: Nullable(Type.Object({}, { additionalProperties: true })),
      },
      { additionalProperties: false },
    ),
  ),
] as const;

export type AgentEvent = EventOf<(typeof agentEventTypes)[number]>;
export type AgentRegistration = AgentEvent['data'];
