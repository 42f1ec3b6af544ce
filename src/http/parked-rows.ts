import { Injectable } from '@nestjs/common';
import { StreamNames } from '../event-store/stream-names.js';
import { ParkedStreams } from '../projection-engine/parked-streams.js';
import type { ListEnvelope } from './list-envelope.js';
import { type HeaderSink, PARKED_HEADER } from './reply-headers.js';

/** Lists of sessions say which of their rows end before the event that parked the session's stream. */
@Injectable()
export class ParkedRows {
  constructor(
    private readonly parked: ParkedStreams,
    private readonly names: StreamNames,
  ) {}

  /**
   * A row of a parked session gets `parked: true`, which other rows do not have, and the answer the header. Costs
   * nothing while nothing is parked.
   */
  mark<Row extends { readonly id: string }>(reply: HeaderSink, list: ListEnvelope<Row>): ListEnvelope<Row> {
    if (this.parked.size === 0) return list;
    const isParked = ({ id }: Row): boolean => this.parked.has(this.names.session(id));
    if (!list.data.some(isParked)) return list;
    reply.header(PARKED_HEADER, 'true');
    return { ...list, data: list.data.map((row) => (isParked(row) ? { ...row, parked: true } : row)) };
  }
}
