import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventStoreDBClient, JSONEventData } from '@eventstore/db-client';
import { NO_STREAM, jsonEvent } from '@eventstore/db-client';
import { connectTo, exited, spawnEmbeddedNode } from '../event-store-under-test.js';

export interface CrashReport {
  readonly rounds: number;
  readonly acknowledged: number;
  /** Batches whose answer the crash swallowed: sent again with the same ids until answered. */
  readonly uncertain: number;
  readonly problems: readonly string[];
}

interface Writer {
  readonly stream: string;
  /** The ids that the stream must hold, in this order: every batch here was answered with success. */
  readonly acknowledged: string[];
  /** A batch without an answer, and whether it was sent before the last crash. */
  unanswered: JSONEventData[] | undefined;
}

const LARGEST_BATCH = 4;
/** Behind the first answer. */
const LONGEST_LIFE_MS = 300;

/** Kills a node again and again while writers append at exact revisions, and keeps account of every answer. */
export class CrashRounds {
  private readonly writers: Writer[];
  private rounds = 0;
  private uncertain = 0;
  private readonly problems: string[] = [];
  private onAnswer: () => void = () => undefined;

  constructor(
    private readonly dir: string,
    writers: number,
  ) {
    this.writers = Array.from({ length: writers }, (_, index) => ({
      stream: `crash-${index}-${randomUUID()}`,
      acknowledged: [],
      unanswered: undefined,
    }));
  }

  async run(): Promise<void> {
    const node = await spawnEmbeddedNode(this.dir);
    const client = connectTo(node.url);
    const answered = new Promise<void>((settle) => (this.onAnswer = settle));
    const writing = this.writers.map((writer) => this.write(client, writer, () => node.child.killed));
    // A client takes its time to connect, and a node that dies before has nothing to lose.
    await answered;
    await delay(Math.random() * LONGEST_LIFE_MS);
    node.child.kill('SIGKILL');
    await exited(node.child);
    await Promise.all(writing);
    await client.dispose();
    this.rounds += 1;
  }

  /** Reads everything back from a node that is started once more. */
  async check(): Promise<CrashReport> {
    const node = await spawnEmbeddedNode(this.dir);
    const client = connectTo(node.url);
    for (const writer of this.writers) {
      if (writer.unanswered !== undefined) await this.append(client, writer, writer.unanswered);
      await this.compare(client, writer);
    }
    await this.compareWholeLog(client);
    await client.dispose();
    node.child.kill('SIGTERM');
    await exited(node.child);
    const acknowledged = this.writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0);
    return { rounds: this.rounds, acknowledged, uncertain: this.uncertain, problems: this.problems };
  }

  private async write(client: EventStoreDBClient, writer: Writer, dead: () => boolean): Promise<void> {
    while (!dead()) {
      const batch = writer.unanswered ?? newBatch();
      writer.unanswered = batch;
      try {
        await this.append(client, writer, batch);
      } catch (error) {
        if (dead()) {
          this.uncertain += 1;
          return;
        }
        this.problems.push(`${writer.stream}: an append failed on a living node: ${String(error)}`);
        return;
      }
    }
  }

  /** At the exact revision: a retry of a batch that was written is a success, a lost event a conflict. */
  private async append(client: EventStoreDBClient, writer: Writer, batch: JSONEventData[]): Promise<void> {
    const count = BigInt(writer.acknowledged.length);
    const expectedRevision = count === 0n ? NO_STREAM : count - 1n;
    const { nextExpectedRevision } = await client.appendToStream(writer.stream, batch, { expectedRevision });
    if (nextExpectedRevision !== count + BigInt(batch.length) - 1n) {
      this.problems.push(`${writer.stream}: acknowledged at revision ${nextExpectedRevision}`);
    }
    writer.acknowledged.push(...batch.map((event) => event.id));
    writer.unanswered = undefined;
    this.onAnswer();
  }

  private async compare(client: EventStoreDBClient, writer: Writer): Promise<void> {
    if (writer.acknowledged.length === 0) return;
    let index = 0;
    for await (const { event } of client.readStream(writer.stream)) {
      if (event?.id !== writer.acknowledged[index] || event?.revision !== BigInt(index)) {
        this.problems.push(`${writer.stream}: revision ${event?.revision} is ${event?.id}`);
      }
      index += 1;
    }
    if (index !== writer.acknowledged.length) {
      this.problems.push(`${writer.stream}: ${index} events, ${writer.acknowledged.length} acknowledged`);
    }
  }

  private async compareWholeLog(client: EventStoreDBClient): Promise<void> {
    const seen = new Map<string, number>();
    let position = -1n;
    for await (const { event } of client.readAll()) {
      if (event?.position === undefined) continue;
      if (event.position.commit <= position)
        this.problems.push(`position ${event.position.commit} does not rise`);
      position = event.position.commit;
      const expected = seen.get(event.streamId) ?? 0;
      if (event.streamId.startsWith('crash-') && event.revision !== BigInt(expected)) {
        this.problems.push(`${event.streamId}: revision ${event.revision} out of order in the log`);
      }
      seen.set(event.streamId, expected + 1);
    }
  }
}

function newBatch(): JSONEventData[] {
  const size = 1 + Math.floor(Math.random() * LARGEST_BATCH);
  return Array.from({ length: size }, () =>
    jsonEvent({
      id: randomUUID(),
      type: 'Written',
      data: { text: 'x'.repeat(Math.floor(Math.random() * 500)) },
    }),
  );
}
