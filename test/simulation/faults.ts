import type { SimulatedConnection } from './simulated-connection.js';
import type { Simulation } from './simulation.js';

/** What goes wrong in a run, at any time. */
type Fault = (run: Simulation) => void;

const faults: readonly Fault[] = [
  (run) => run.kill(run.anyNode()),
  (run) => run.pause(run.anyNode(), run.simulator.between(10, 8_000)),
  (run) => run.stopGracefully(run.anyNode()),
  ({ database, simulator }) => database.crash(simulator.between(0, 4_000)),
  ({ database, simulator }) => simulator.pick([...database.connections])?.cut(),
  (run) => run.log.subscriptionOf(run.anyNode().machine)?.cut(),
  (run) => {
    for (const { machine } of run.nodes) run.log.subscriptionOf(machine)?.cut();
  },
  (run) => run.swallow(run.anyNode(), 'databaseHole', run.simulator.between(500, 15_000)),
  (run) => run.swallow(run.anyNode(), 'logHole', run.simulator.between(500, 15_000)),
  ({ database, simulator }) => {
    database.clockOffset += simulator.between(-60_000, 60_000);
    simulator.note(`  the database's clock is set to ${database.clock}`);
  },
];

export function strike(run: Simulation): void {
  run.simulator.pick(faults)?.(run);
}

/** What goes wrong in the middle of a commit. */
export function strikeCommit(run: Simulation, connection: SimulatedConnection, probability: number): void {
  const { simulator } = run;
  if (!simulator.chance(probability)) return;
  const node = run.nodes.find(({ machine }) => machine === connection.machine);
  const acts: readonly (() => void)[] = [
    () => connection.cut(),
    () => run.database.crash(simulator.between(0, 2_000)),
    () => node && run.kill(node),
    () => node && run.pause(node, simulator.between(100, 8_000)),
    () => node && run.swallow(node, 'databaseHole', simulator.between(500, 8_000)),
  ];
  simulator.pick(acts)?.();
}
