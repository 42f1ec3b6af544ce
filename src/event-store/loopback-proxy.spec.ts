import { expect, it } from '@jest/globals';
import { reachLoopbackDirectly } from './loopback-proxy.js';

it.each([
  [{}, '127.0.0.1,localhost,::1'],
  [{ no_proxy: 'a.example,localhost' }, 'a.example,localhost,127.0.0.1,::1'],
  [{ no_grpc_proxy: 'b.example', no_proxy: 'a.example' }, 'b.example,127.0.0.1,localhost,::1'],
])('loopback is reached without a proxy, beside what the environment says already: %j', (given, expected) => {
  const env: NodeJS.ProcessEnv = { ...given };
  reachLoopbackDirectly(env);
  expect(env['no_grpc_proxy']).toBe(expected);
});
