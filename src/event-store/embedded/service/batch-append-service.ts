import type { BatchFailure } from '../protocol/append-response.js';
import {
  batchConflict,
  batchRefusal,
  batchStreamDeleted,
  batchTimeout,
  batchTooLarge,
  batchUnknown,
  encodeBatchFailure,
  encodeBatchSuccess,
} from '../protocol/append-response.js';
import type { WriteTarget } from '../protocol/append-request.js';
import {
  MAXIMUM_APPEND_SIZE,
  appendSize,
  checkTarget,
  decodeProposedEvent,
  decodeTarget,
} from '../protocol/append-request.js';
import type { BatchChunk } from '../protocol/batch-append-request.js';
import { decodeBatchChunk, decodeDeadline } from '../protocol/batch-append-request.js';
import { GrpcError, invalidArgument } from '../protocol/grpc-error.js';
import type { ProposedEvent } from '../protocol/recorded-event.js';
import type { EventLog } from '../storage/event-log.js';
import { frame } from '../transport/frame-decoder.js';
import type { GrpcCall } from '../transport/grpc-call.js';
import type { Intake } from './intake.js';

interface OpenBatch {
  readonly target: WriteTarget;
  readonly deadline: number | undefined;
  readonly events: ProposedEvent[];
  size: number;
  held: number;
  /** Runs while the end of the batch has not come. */
  unfinished: NodeJS.Timeout | undefined;
}

/** Unless the client's own deadline comes first. */
const UNFINISHED_MS = 2_000;

/** What the unfinished batches of one stream may hold in memory. */
const MOST_OPEN_BATCHES = 1_000;
const MOST_OPEN_BYTES = 64 * MAXIMUM_APPEND_SIZE;

/** Ends one batch with an answer; the shared stream goes on. */
class BatchRefused extends Error {
  constructor(readonly failure: BatchFailure) {
    super(failure.message);
  }
}

/**
 * `Streams/BatchAppend`: one long-lived stream carries all appends of a client. Every batch gets exactly one
 * answer; the client throws inside its data handler for an answer that it does not expect.
 */
export class BatchAppendCall {
  private readonly open = new Map<string, OpenBatch>();
  private openBytes = 0;
  private pendingWrites = 0;
  private pauses = 0;
  private whenIdle: (() => void) | undefined;
  private replies: Buffer[] = [];
  private flushing = false;

  constructor(
    private readonly log: EventLog,
    private readonly call: GrpcCall,
    private readonly intake: Intake,
  ) {
    call.closed.addEventListener('abort', () => this.abandon(), { once: true });
  }

  async run(): Promise<void> {
    await this.call.receive((message) => this.accept(decodeBatchChunk(message), message.length));
    // The client closed its side: answer what is still being written, then end.
    await this.settled();
    this.call.end();
  }

  private settled(): Promise<void> {
    if (this.pendingWrites === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenIdle = resolve;
    });
  }

  private accept(chunk: BatchChunk, bytes: number): void {
    const key = chunk.correlationId.toString('latin1');
    let batch: OpenBatch | undefined;
    try {
      if (chunk.options !== undefined) this.begin(key, chunk.options);
      batch = this.open.get(key);
      // The rest of a batch that was refused early.
      if (batch === undefined) return;
      this.hold(batch, bytes);
      this.collect(batch, chunk.proposedMessages);
      if (!chunk.isFinal) return this.expectRest(key, chunk.correlationId, batch);
      this.drop(key);
      this.write(chunk.correlationId, batch);
    } catch (error) {
      this.refuse(key, chunk.correlationId, error, batch);
    }
  }

  private refuse(key: string, correlationId: Buffer, error: unknown, batch = this.open.get(key)): void {
    const stream = batch?.target.stream ?? Buffer.alloc(0);
    this.drop(key);
    this.reply(encodeBatchFailure(correlationId, stream, refusal(error)));
  }

  /** The chunk that begins most batches also ends them, so that they need no timer. */
  private expectRest(key: string, correlationId: Buffer, batch: OpenBatch): void {
    if (batch.unfinished !== undefined) return;
    const left = (batch.deadline ?? Number.POSITIVE_INFINITY) - this.log.now();
    batch.unfinished = setTimeout(
      () => this.refuse(key, correlationId, new BatchRefused(batchTimeout)),
      Math.min(left, UNFINISHED_MS),
    );
  }

  private abandon(): void {
    for (const { unfinished } of this.open.values()) clearTimeout(unfinished);
    this.intake.close(this.openBytes);
  }

  private begin(key: string, options: Buffer): void {
    if (this.open.size >= MOST_OPEN_BATCHES) throw invalidArgument('Too many unfinished batches.');
    const target = decodeTarget(options);
    const deadline = decodeDeadline(options, this.log.now());
    this.drop(key);
    this.open.set(key, { target, deadline, events: [], size: 0, held: 0, unfinished: undefined });
    checkTarget(target);
    this.checkInTime(deadline);
  }

  private drop(key: string): void {
    const { held = 0, unfinished } = this.open.get(key) ?? {};
    clearTimeout(unfinished);
    this.openBytes -= held;
    this.intake.close(held);
    this.open.delete(key);
  }

  /** Events are views into their chunk, so a batch keeps all bytes of its chunks alive, whatever they are. */
  private hold(batch: OpenBatch, bytes: number): void {
    batch.held += bytes;
    this.openBytes += bytes;
    this.intake.hold(bytes);
    if (this.openBytes > MOST_OPEN_BYTES || this.intake.overfull)
      throw invalidArgument('Too many unfinished batches.');
  }

  private collect(batch: OpenBatch, messages: readonly Buffer[]): void {
    for (const message of messages) {
      const event = decodeProposedEvent(message);
      batch.size += appendSize(event);
      if (batch.size > MAXIMUM_APPEND_SIZE) throw new BatchRefused(batchTooLarge(MAXIMUM_APPEND_SIZE));
      batch.events.push(event);
    }
  }

  private checkInTime(deadline: number | undefined): void {
    if (deadline !== undefined && deadline < this.log.now()) throw new BatchRefused(batchTimeout);
  }

  private write(correlationId: Buffer, batch: OpenBatch): void {
    const { stream, expected } = batch.target;
    this.checkInTime(batch.deadline);
    this.pendingWrites += 1;
    void this.intake
      .while(batch.held, this.log.write({ kind: 'append', stream, expected, events: batch.events }))
      .then((outcome) => {
        switch (outcome.kind) {
          case 'written':
            return encodeBatchSuccess(correlationId, stream, outcome);
          case 'wrong-expected-version':
            return encodeBatchFailure(correlationId, stream, batchConflict(expected, outcome.current));
          case 'stream-deleted':
            return encodeBatchFailure(correlationId, stream, batchStreamDeleted(stream));
          default:
            return outcome satisfies never;
        }
      })
      .catch((error: unknown) => encodeBatchFailure(correlationId, stream, refusal(error)))
      .then((answer) => {
        this.reply(answer);
        this.pendingWrites -= 1;
        if (this.pendingWrites === 0) this.whenIdle?.();
      });
    if (this.intake.full) void this.pauseUntil(this.intake.drained());
  }

  /** Two may wait at once: for answers to be read, and for appends to be written. */
  private async pauseUntil(over: Promise<void>): Promise<void> {
    this.pauses += 1;
    this.call.pauseInput();
    await over;
    this.pauses -= 1;
    if (this.pauses === 0) this.call.resumeInput();
  }

  /** Gathers the answers of one commit into one write, and stops reading when the client reads none. */
  private reply(message: Buffer): void {
    this.replies.push(frame(message));
    if (this.flushing) return;
    this.flushing = true;
    process.nextTick(() => void this.flush());
  }

  private async flush(): Promise<void> {
    const frames = Buffer.concat(this.replies);
    this.replies = [];
    this.flushing = false;
    const drained = this.call.write(frames);
    if (drained !== undefined) await this.pauseUntil(drained);
  }
}

function refusal(error: unknown): BatchFailure {
  if (error instanceof BatchRefused) return error.failure;
  if (error instanceof GrpcError) return batchRefusal(error);
  return batchUnknown;
}
