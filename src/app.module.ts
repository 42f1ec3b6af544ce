import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { RegisterAgentHandler } from './agents/commands/register-agent.js';
import { AgentsController } from './agents/http/agents.controller.js';
import { GetAgentHandler } from './agents/queries/get-agent.js';
import { AuthModule } from './auth/auth.module.js';
import type { AuthOptions } from './auth/auth-options.js';
import type { Core } from './core.js';
import { CoreModule } from './core.module.js';
import { RequestElicitationHandler } from './elicitations/commands/request-elicitation.js';
import {
  MarkAnsweredElsewhereHandler,
  ResolveElicitationHandler,
} from './elicitations/commands/resolve-elicitation.js';
import { ElicitationsController } from './elicitations/http/elicitations.controller.js';
import { GetElicitationHandler } from './elicitations/queries/get-elicitation.js';
import { HttpEdgeModule } from './http/http-edge.module.js';
import { ParkedHeaderGuard } from './http/parked-header.guard.js';
import { ParkedRows } from './http/parked-rows.js';
import { MinPositionGuard } from './http/min-position.guard.js';
import { HealthController } from './observability/health.controller.js';
import { AppendItemHandler } from './sessions/commands/append-item.js';
import { ChangeStatusHandler } from './sessions/commands/change-status.js';
import { CloseSessionHandler } from './sessions/commands/close-session.js';
import { PatchSessionHandler } from './sessions/commands/patch-session.js';
import { SendMessageHandler } from './sessions/commands/send-message.js';
import { SpawnSessionHandler } from './sessions/commands/spawn-session.js';
import { ElicitationIntake } from './sessions/http/elicitation-intake.js';
import { EventIntake } from './sessions/http/event-intake.js';
import { EventsController } from './sessions/http/events.controller.js';
import { SessionListsController } from './sessions/http/session-lists.controller.js';
import { SessionsController } from './sessions/http/sessions.controller.js';
import { GetSessionHandler } from './sessions/queries/get-session.js';
import { ListChildrenHandler } from './sessions/queries/list-children.js';
import { ListItemsHandler } from './sessions/queries/list-items.js';
import { ListSessionsHandler } from './sessions/queries/list-sessions.js';

const commandHandlers = [
  RegisterAgentHandler,
  SpawnSessionHandler,
  PatchSessionHandler,
  CloseSessionHandler,
  AppendItemHandler,
  ChangeStatusHandler,
  SendMessageHandler,
  RequestElicitationHandler,
  ResolveElicitationHandler,
  MarkAnsweredElsewhereHandler,
];

const queryHandlers = [
  GetAgentHandler,
  GetSessionHandler,
  ListSessionsHandler,
  ListChildrenHandler,
  ListItemsHandler,
  GetElicitationHandler,
];

@Module({})
export class AppModule {
  static of(core: Core, auth: AuthOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [CqrsModule.forRoot(), CoreModule.of(core), HttpEdgeModule, AuthModule.forRoot(auth)],
      controllers: [
        AgentsController,
        SessionsController,
        SessionListsController,
        EventsController,
        ElicitationsController,
        HealthController,
      ],
      providers: [
        ...commandHandlers,
        ...queryHandlers,
        EventIntake,
        ElicitationIntake,
        ParkedRows,
        // After the principal's guard: who is not let in waits for nothing.
        { provide: APP_GUARD, useClass: MinPositionGuard },
        { provide: APP_GUARD, useClass: ParkedHeaderGuard },
      ],
    };
  }
}
