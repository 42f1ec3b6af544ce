import { setImmediate } from 'node:timers/promises';
import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { notFound } from './errors.js';
import { parseId } from '../ids.js';
import type { IdKind } from '../ids.js';
import { fitsCodePoints } from '../text/code-points.js';
import { isSafeText } from '../text/well-formed.js';

/**
 * A path id in canonical form; malformed is 404 "Not found.".
 *
 * The rejection comes a turn late on purpose: Nest resolves all parameters at once and answers with the first that
 * fails, and an invalid body (422) must win over an unknown session (contract/sessions.md 1.5).
 */
function pathId(kind: IdKind) {
  return createParamDecorator((param: string | undefined, context: ExecutionContext) => {
    const raw = pathParam(context, param ?? 'id');
    return parseId(kind, raw) ?? rejectLate();
  });
}

export const SessionId = pathId('session');
export const AuditId = pathId('audit');

const PROMPT_ID_CODE_POINTS = 255;

/** A prompt's id is the client's own text, 1..255 code points; what cannot be one is 404. */
export const ElicitationId = createParamDecorator((param: string | undefined, context: ExecutionContext) => {
  const raw = pathParam(context, param ?? 'elicitationId');
  const plausible = raw !== '' && isSafeText(raw) && fitsCodePoints(raw, PROMPT_ID_CODE_POINTS);
  return plausible ? raw : rejectLate();
});

function pathParam(context: ExecutionContext, name: string): string {
  const params = context
    .switchToHttp()
    .getRequest<FastifyRequest<{ Params: Record<string, string> }>>().params;
  return params[name] ?? '';
}

async function rejectLate(): Promise<never> {
  await setImmediate();
  throw notFound();
}
