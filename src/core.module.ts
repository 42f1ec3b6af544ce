import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { SystemClock } from './clock/clock.js';
import { AgentStore } from './agents/aggregate.js';
import { CommandRunner } from './command-handling/command-runner.js';
import { AuditLauncher } from './audits/audit-launcher.js';
import { AuditRegister } from './audits/audit-register.js';
import type { Core } from './core.js';
import { PromptHolders } from './elicitations/prompt-holders.js';
import { StreamNames } from './event-store/stream-names.js';
import { FaultPoints } from './fault-points/fault-points.js';
import { Health } from './observability/health.js';
import { ParkedStreams } from './projection-engine/parked-streams.js';
import { ReadModels } from './read-models/read-models.js';
import { SessionStore } from './sessions/aggregate.js';
import { CommandedCascade } from './sessions/commanded-cascade.js';
import { DeletedSubtrees } from './sessions/deleted-subtrees.js';
import { SessionCommands } from './sessions/session-commands.js';

/** What handlers and controllers may ask for; built before Nest, so that a failing start is one clear line. */
@Module({})
export class CoreModule {
  static of(core: Core): DynamicModule {
    const providers: Provider[] = [
      { provide: SystemClock, useValue: core.clock },
      { provide: FaultPoints, useValue: core.faults },
      { provide: StreamNames, useValue: core.names },
      { provide: SessionStore, useValue: core.sessionStore },
      { provide: AgentStore, useValue: core.agentStore },
      { provide: SessionCommands, useValue: core.sessions },
      { provide: DeletedSubtrees, useValue: core.deletedSubtrees },
      { provide: CommandedCascade, useValue: core.cascade },
      { provide: CommandRunner, useValue: core.runner },
      { provide: ReadModels, useValue: core.readModels },
      { provide: ParkedStreams, useValue: core.parked },
      { provide: PromptHolders, useValue: core.promptHolders },
      { provide: Health, useValue: core.health },
      { provide: AuditRegister, useValue: core.audits },
      { provide: AuditLauncher, useValue: core.auditLauncher },
    ];
    return {
      module: CoreModule,
      global: true,
      providers,
      exports: providers.map((provider) => ('provide' in provider ? provider.provide : provider)),
    };
  }
}
