import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Principal } from '../../auth/principal.js';
import type { Clock } from '../../clock/clock.js';
import { SystemClock } from '../../clock/clock.js';
import { StreamNames } from '../../event-store/stream-names.js';
import { ReadModels } from '../../read-models/read-models.js';
import { refuse, type Refusal } from '../../refusal.js';
import { accessibleAgent } from '../access.js';
import { AgentStore } from '../aggregate.js';

/** `api.md` 5. Times are epoch seconds. */
export interface AgentBody {
  readonly id: string;
  readonly object: 'agent';
  readonly name: string;
  readonly harness: string | null;
  readonly sub_agents: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
}

interface Times {
  readonly created_at: number;
  readonly updated_at: number;
}

export class GetAgent extends Query<AgentBody | Refusal> {
  constructor(
    readonly principal: Principal,
    readonly agentId: string,
  ) {
    super();
  }
}

@QueryHandler(GetAgent)
export class GetAgentHandler implements IQueryHandler<GetAgent> {
  private readonly clock: Clock;

  constructor(
    private readonly readModels: ReadModels,
    private readonly agents: AgentStore,
    private readonly names: StreamNames,
    clock: SystemClock,
  ) {
    this.clock = clock;
  }

  async execute({ principal, agentId }: GetAgent): Promise<AgentBody | Refusal> {
    const agent = accessibleAgent(principal, await this.agents.recall(this.names.agent(agentId)));
    if (!agent) return refuse('not_found', `Agent ${agentId} not found`);
    const { name, harness, sub_agents } = agent;
    const times = await this.times(agentId);
    return { id: agentId, object: 'agent', name, harness, sub_agents, ...times, version: 1 };
  }

  /** Until the read models show the agent, or while they cannot be asked, it was made just now. */
  private async times(agentId: string): Promise<Times> {
    const rows = await this.shownTimes(agentId).catch((): Times[] => []);
    const now = Math.floor(this.clock.now() / 1000);
    return rows[0] ?? { created_at: now, updated_at: now };
  }

  private async shownTimes(agentId: string): Promise<Times[]> {
    return this.readModels.query<Times>(
      'agent-times',
      `SELECT floor(extract(epoch FROM created_at))::double precision AS created_at, floor(extract(epoch FROM updated_at))::double precision AS updated_at
       FROM ${this.readModels.schema}.agents WHERE id = $1`,
      [agentId],
    );
  }
}
