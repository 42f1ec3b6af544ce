const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/**
 * The client's transport sends every call through the proxy that the environment names, loopback included. Whoever
 * works behind a proxy would not reach the node on their own machine.
 */
export function reachLoopbackDirectly(env: NodeJS.ProcessEnv): void {
  const standing = env['no_grpc_proxy'] ?? env['no_proxy'] ?? '';
  const hosts = standing.split(',').filter((host) => host !== '');
  env['no_grpc_proxy'] = [...new Set([...hosts, ...LOOPBACK])].join(',');
}
