import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ownerOf } from '../../auth/principal.js';
import { AgentStore } from '../../agents/aggregate.js';
import { accessibleAgent } from '../../agents/access.js';
import { mintId, type CommandRequest } from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandContext, Outcome } from '../../event-store/aggregates/command-context.js';
import type { Position } from '../../event-store/position.js';
import { StreamNames } from '../../event-store/stream-names.js';
import { FaultPoints } from '../../fault-points/fault-points.js';
import { isRefusal, refuse, type Refusal } from '../../refusal.js';
import { accessible } from '../access.js';
import { SessionStore } from '../aggregate.js';
import {
  childSpawnOf,
  decideBirth,
  decideSpawnChild,
  decideSpawnRoot,
  type SpawnRequest,
} from '../domain/decide/spawn.js';
import { reservedKey, toStoredLabels } from '../domain/labels.js';
import type { SessionSpawn } from '../domain/events.js';
import { latest, SessionCommands } from '../session-commands.js';
import { claimName } from './name-claim.js';

type Spawned = { session_id: string };

/** `POST /v1/sessions`: a root, or a child when `parentId` is given. */
export class SpawnSession extends Command<Answer<Spawned> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly session: {
      readonly agentId: string | null;
      readonly parentId: string | null;
      readonly title: string | null;
      readonly tool: string | null;
      readonly sessionName: string | null;
      readonly labels: Readonly<Record<string, string>>;
    },
  ) {
    super();
  }
}

@CommandHandler(SpawnSession)
export class SpawnSessionHandler implements ICommandHandler<SpawnSession> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
    private readonly store: SessionStore,
    private readonly agents: AgentStore,
    private readonly names: StreamNames,
    private readonly faults: FaultPoints,
  ) {}

  async execute(command: SpawnSession): Promise<Answer<Spawned> | Refusal> {
    const { request, session } = command;
    const reserved = reservedKey(session.labels);
    if (reserved !== null) return refuse('invalid_input', `Label "${reserved}" is reserved.`);
    const agent = await this.agentOf(command);
    if (isRefusal(agent)) return agent;
    const spawn: SpawnRequest = {
      sessionId: mintId('session', request),
      owner: ownerOf(request.principal),
      agentId: session.agentId,
      agentName: agent,
      title: session.title,
      tool: session.tool,
      sessionName: session.sessionName,
      labels: toStoredLabels(session.labels),
    };
    const { parentId } = session;
    return this.runner.run({
      request,
      status: 201,
      carryOut: (context) =>
        parentId === null ? this.root(context, spawn) : this.child(context, command, parentId, spawn),
      completeReplay: (_result, context) =>
        parentId === null ? Promise.resolve(null) : this.completed(context, parentId, spawn),
    });
  }

  /** The agent's name, null without an agent. */
  private async agentOf({ request, session }: SpawnSession): Promise<string | null | Refusal> {
    if (session.agentId === null) return null;
    const state = await this.agents.recall(this.names.agent(session.agentId));
    const agent = accessibleAgent(request.principal, state);
    return agent ? agent.name : refuse('not_found', `Agent ${session.agentId} not found`);
  }

  private root(context: CommandContext, spawn: SpawnRequest): Promise<Outcome<Spawned>> {
    const presumedNew = context.keys.length === 0;
    const decide = (state: Parameters<typeof decideSpawnRoot>[0]): ReturnType<typeof decideSpawnRoot> =>
      decideSpawnRoot(state, spawn);
    return this.store.run(
      this.names.session(spawn.sessionId),
      { context, record: (result) => result, decide },
      { presumedNew },
    );
  }

  private async child(
    context: CommandContext,
    command: SpawnSession,
    parentId: string,
    spawn: SpawnRequest,
  ): Promise<Outcome<Spawned>> {
    const { principal } = command.request;
    const parent = accessible(principal, await this.sessions.recall(parentId));
    if (isRefusal(parent))
      return { kind: 'refused', refusal: refuse('not_found', 'Parent session not found') };
    const claimed = await claimName(
      spawn.title,
      (released) =>
        this.sessions.decide(context, {
          principal,
          sessionId: parentId,
          decide: (state) => decideSpawnChild(state, spawn, released),
          record: () => ({ session_id: spawn.sessionId }),
        }),
      (childId) => this.sessions.readEvenDeleted(childId),
    );
    if (claimed.kind !== 'done') return claimed;
    await this.faults.pass('between-spawn-and-birth');
    const born = await this.birth(context, claimed.result.spawn);
    // The child exists from `ChildSpawned` on: should its own stream fail now, the reactor opens it.
    const position = born.kind === 'done' ? latest(claimed.position, born.position) : claimed.position;
    return { kind: 'done', result: { session_id: spawn.sessionId }, position };
  }

  private birth(context: CommandContext, spawn: SessionSpawn): Promise<Outcome<null>> {
    return this.sessions.follow(context, spawn.session_id, (state) => decideBirth(state, spawn), {
      presumedNew: true,
    });
  }

  /** A repeated spawn may come before anybody has opened the child's stream: then this is who does. */
  private async completed(
    context: CommandContext,
    parentId: string,
    spawn: SpawnRequest,
  ): Promise<Position | null> {
    const parent = (await this.sessions.recall(parentId)).facts;
    if (!parent) return null;
    const born = await this.birth(context, childSpawnOf(parent, spawn));
    if (born.kind === 'done' && born.position !== null) return born.position;
    return (await this.sessions.read(spawn.sessionId)).facts?.createdPosition ?? null;
  }
}
