import { Agent, request } from 'node:http';

/** In milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

export interface LoadResult extends Quantiles {
  readonly perSecond: number;
}

/** `count` units of work by `inFlight` workers; each worker does its own one after the other. */
export async function load(
  count: number,
  inFlight: number,
  work: (worker: number) => Promise<void>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let left = count;
  const started = performance.now();
  const worker = async (index: number): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      await work(index);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, index) => worker(index)));
  const seconds = (performance.now() - started) / 1000;
  return { perSecond: count / seconds, ...quantiles(latencies) };
}

export function quantiles(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

export function median(values: readonly number[]): number {
  return quantiles(values).p50;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A small keep-alive client: the load must not cost more than the server. */
export class HttpLoad {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });

  constructor(private readonly port: number) {}

  post(
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: string }> {
    const text = JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          agent: this.agent,
          host: '127.0.0.1',
          port: this.port,
          method: 'POST',
          path,
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
        },
      );
      call.on('error', reject);
      call.end(text);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
