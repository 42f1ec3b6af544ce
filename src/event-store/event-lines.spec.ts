import { describe, expect, it } from '@jest/globals';
import { MalformedRecording, parseEventLines, toEventLine } from './event-lines.js';
import type { RawEvent } from './recorded-event.js';

const event: RawEvent = {
  id: 'b1',
  type: 'SessionClosed',
  stream: 'rollcall.session-conv_1',
  revision: 7n,
  position: 9_223_372_036_854_775_807n,
  recordedAt: Date.parse('2026-01-02T03:04:05.678Z'),
  data: { reason: 'done', text: 'é\u2028\n' },
  metadata: { schema: 2, actor: 'anonymous' },
};

describe('a line of a recorded log', () => {
  it('gives back the event that it was written from', () => {
    const line = toEventLine(event);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({ schema: 2, position: '9223372036854775807' });
    expect(parseEventLines(`${line}\n`)).toEqual([event]);
  });

  it.each([
    ['not JSON', '{', 'line 2: not JSON'],
    [
      'a number for a position',
      toEventLine(event).replace(/"position":"\d+"/, '"position":1'),
      'line 2: /position',
    ],
    [
      'no time',
      toEventLine(event).replace(/"recorded_at":"[^"]*"/, '"recorded_at":"soon"'),
      'line 2: /recorded_at',
    ],
    ['an earlier position', toEventLine({ ...event, position: 3n }), 'line 2: position 3 follows'],
  ])('%s is refused by its line', (_what, line, message) => {
    const read = (): unknown => parseEventLines(`${toEventLine(event)}\n${line}\n`);
    expect(read).toThrow(MalformedRecording);
    expect(read).toThrow(message);
  });
});
