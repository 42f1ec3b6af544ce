import { randomUUID } from 'node:crypto';
import { METADATA_TYPE } from '../rules/stream-metadata.js';
import type { LogWrite } from './log-writer.js';

/** What a fresh database of a real node holds before the first user event: its users and their streams. */
export function systemEventWrites(): readonly LogWrite[] {
  return [
    systemWrite('$$$users-password-notifications', METADATA_TYPE, { $maxAge: 3600 }),
    systemWrite('$user-admin', '$UserCreated', {
      loginName: 'admin',
      fullName: 'Administrator',
      groups: ['$admins'],
    }),
    systemWrite('$users', '$User', 'admin'),
    systemWrite('$user-ops', '$UserCreated', { loginName: 'ops', fullName: 'Operations', groups: ['$ops'] }),
    systemWrite('$users', '$User', 'ops'),
  ];
}

function systemWrite(stream: string, type: string, data: unknown): LogWrite {
  return {
    kind: 'append',
    stream: Buffer.from(stream),
    expected: { kind: 'any' },
    events: [
      {
        id: randomUUID(),
        type,
        isJson: true,
        metadata: Buffer.alloc(0),
        data: Buffer.from(JSON.stringify(data)),
      },
    ],
  };
}
