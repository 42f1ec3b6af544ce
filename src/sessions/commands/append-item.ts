import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  derivedId,
  digest,
  mintId,
  mintResponseId,
  type CommandRequest,
} from '../../command-handling/command-request.js';
import { CommandRunner, type Answer } from '../../command-handling/command-runner.js';
import type { CommandKey } from '../../event-store/recorded-event.js';
import type { Refusal } from '../../refusal.js';
import { decideAppendItem } from '../domain/decide/append-item.js';
import { SessionCommands } from '../session-commands.js';

type Appended = { item_id: string };

/** Something that happened in a session and is kept in its transcript. */
export class AppendItem extends Command<Answer<Appended> | Refusal> {
  constructor(
    readonly request: CommandRequest,
    readonly sessionId: string,
    readonly item: {
      readonly type: string;
      readonly payload: Readonly<Record<string, unknown>>;
      readonly responseId: string | null;
      /** The id that a forwarder gave: the same id with the same content is the same item (`api.md` 1). */
      readonly naturalId: string | null;
    },
  ) {
    super();
  }
}

@CommandHandler(AppendItem)
export class AppendItemHandler implements ICommandHandler<AppendItem> {
  constructor(
    private readonly runner: CommandRunner,
    private readonly sessions: SessionCommands,
  ) {}

  execute({ request, sessionId, item }: AppendItem): Promise<Answer<Appended> | Refusal> {
    const { naturalId } = item;
    const itemId = naturalId === null ? mintId('item', request) : derivedId('item', sessionId, naturalId);
    const responseId = item.responseId ?? mintResponseId();
    return this.runner.run({
      request,
      status: 202,
      naturalKey: naturalId === null ? undefined : naturalKeyOf(sessionId, naturalId, item),
      carryOut: (context) =>
        this.sessions.decide(context, {
          principal: request.principal,
          sessionId,
          record: (result) => result,
          decide: (state) =>
            decideAppendItem(state, {
              itemId,
              responseId,
              type: item.type,
              payload: item.payload,
              createdBy: null,
            }),
        }),
    });
  }
}

function naturalKeyOf(
  sessionId: string,
  naturalId: string,
  item: { type: string; payload: object; responseId: string | null },
): CommandKey {
  return {
    key: digest('item', sessionId, naturalId),
    hash: digest(item.type, item.responseId ?? '', JSON.stringify(item.payload)),
  };
}
