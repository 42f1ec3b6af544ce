import { refuse, type Refusal } from '../../refusal.js';
import { fitsCodePoints } from '../../text/code-points.js';
import { isSafeText } from '../../text/well-formed.js';

/** Code points. */
export const PROMPT_ID_LENGTH = 255;

/** 422 for what a prompt's id cannot be: too long, or with NUL or unpaired surrogates (`api.md` 1). */
export function promptIdRefusal(id: string): Refusal | null {
  if (isSafeText(id) && fitsCodePoints(id, PROMPT_ID_LENGTH)) return null;
  return refuse('unprocessable', 'An elicitation id is a text of 1 to 255 characters.', {
    type: 'value_error',
    loc: ['body', 'data', 'elicitation_id'],
    input: id.slice(0, PROMPT_ID_LENGTH),
  });
}
