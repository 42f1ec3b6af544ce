import { Actor } from '../actor.js';
import { hire } from '../login-fix/cast.js';
import type { Stage } from '../stage.js';

/**
 * A person stops a team in the middle of its work, lets one of them go on, throws away what the others did, and hands
 * the same task to somebody new. Gives back the id of the orchestrator's session.
 */
export async function changeOfPlan(stage: Stage): Promise<string> {
  const cast = await hire(stage);
  const lead = await Actor.enter(stage, { ...cast.orchestrator, title: 'Move the session store' });
  await lead.hears('Move the session store from Redis to Postgres.');
  await lead.runs();
  const schema = await lead.delegate({ ...cast.coder, title: 'coder:schema' }, 'Draft the tables.');
  const copy = await lead.delegate({ ...cast.coder, title: 'coder:copy' }, 'Write the copy job.');
  const idle = await lead.spawn({ ...cast.reviewer, title: 'reviewer:plan' });
  const dryRun = await copy.delegate({ ...cast.tester, title: 'tester:dry-run' }, 'Try it on staging.');
  await dryRun.asks({ message: 'May I copy the staging sessions?' });
  await dryRun.waits();
  await schema.asks({ message: 'One table or two?' });
  await lead.waits();
  await stage.pause(2);

  await lead.interrupt('interrupt');
  await schema.hears('Two tables; go on with the draft.');
  await schema.runs();
  await schema.says('Two tables it is.');
  await copy.remove();
  await stage.pause(1);

  const heir = await lead.delegate({ ...cast.coder, title: 'coder:copy' }, 'Write the copy job, in batches.');
  await heir.asks({ message: 'How large may a batch be?' });
  await idle.close('cancelled');
  await idle.remove();
  await schema.interrupt('stop_session');
  await schema.idles('The draft is in docs/schema.md.');
  return lead.id;
}
