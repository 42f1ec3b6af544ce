import { Actor } from '../actor.js';
import type { Stage } from '../stage.js';
import { hire } from './cast.js';
import { diagnose } from './diagnosis.js';
import { repairCookie, repairRefresh } from './repair.js';
import { loadTest, perfCheck, review, writeNotes } from './safeguards.js';

/**
 * A working day of a team: customers cannot sign in, an orchestrator finds out why with its researchers, has two
 * faults repaired at once, reviewed and tested, and ends the day with one question that still waits for a person.
 * Gives back the id of the orchestrator's session.
 */
export async function loginFix(stage: Stage): Promise<string> {
  const cast = await hire(stage);
  const lead = await Actor.enter(stage, {
    ...cast.orchestrator,
    labels: { ticket: 'LOGIN-412', team: 'identity' },
  });
  await lead.hears(
    'Safari users who sign in with SSO land on the login page again, since Monday. Find the cause, fix it, have it reviewed, and prepare 4.18.2. Ask me before anything touches staging.',
  );
  await lead.runs();
  await stage.pause(3);
  await lead.says('First the cause. I send a researcher; nothing is changed until we know.');
  await diagnose(stage, cast, lead);
  await stage.pause(3);
  await lead.says(
    'Two causes: the Strict cookie (97 %) and a race in the token refresh (3 %). I have both repaired at the same time, with a security review, a load test and the release note alongside.',
  );
  await lead.change({ labels: { stage: 'repair' } });
  await Promise.all([
    repairCookie(stage, cast, lead),
    after(stage, 1, () => repairRefresh(stage, cast, lead)),
    after(stage, 3, () => review(stage, cast, lead)),
    after(stage, 5, () => loadTest(stage, cast, lead)),
    after(stage, 9, () => perfCheck(stage, lead)),
    after(stage, 12, () => writeNotes(stage, lead)),
  ]);
  await lead.change({ labels: { stage: 'review' } });
  await lead.says(
    'Where we are: the cookie fix waits for one sign-in on staging, the refresh fix gets its test, the load test needs a working gateway. 4.18.2 can go out as soon as you answer the Safari tester.',
  );
  return lead.id;
}

async function after(stage: Stage, seconds: number, story: () => Promise<void>): Promise<void> {
  await stage.pause(seconds);
  await story();
}
