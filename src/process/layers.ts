import type { EmbeddedLog } from '../database/embedded/embedded-log.js';

type Stop = () => Promise<void> | void;

/** What runs and must be stopped, from the ground up: a layer stops when those above it have. */
export type Layers = Stop[][];

export async function stopLayers(layers: Layers, log: EmbeddedLog): Promise<void> {
  for (const layer of layers.toReversed()) {
    const results = await Promise.allSettled(layer.map(async (stop) => stop()));
    for (const result of results) {
      if (result.status === 'rejected') log.error(`while stopping: ${String(result.reason)}`);
    }
  }
}
