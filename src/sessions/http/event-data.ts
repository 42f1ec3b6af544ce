import { ApiError, DetailError } from '../../http/errors.js';
import { toDto } from '../../http/validation.js';

/** The `data` of an event, checked; a malformed one is 400 and names the member (`contract/sessions.md` 6.1). */
export function eventData<Data extends object>(
  dto: new () => Data,
  type: string,
  data: Readonly<Record<string, unknown>>,
): Data {
  try {
    return toDto(dto, data, 'body') as Data;
  } catch (error) {
    if (!(error instanceof DetailError) || typeof error.detail === 'string') throw error;
    const [first] = error.detail;
    const member = first?.loc.slice(1).join('.') ?? '';
    throw new ApiError(
      'invalid_input',
      `Invalid data payload for event type "${type}": ${member}: ${first?.msg ?? 'malformed'}`,
    );
  }
}

/** As `eventData`, but a malformed one is 422, told as part of the body (`api.md` 3, event `approval`). */
export function strictEventData<Data extends object>(
  dto: new () => Data,
  data: Readonly<Record<string, unknown>>,
): Data {
  try {
    return toDto(dto, data, 'body') as Data;
  } catch (error) {
    if (!(error instanceof DetailError) || typeof error.detail === 'string') throw error;
    throw new DetailError(
      422,
      error.detail.map((entry) => ({ ...entry, loc: ['body', 'data', ...entry.loc.slice(1)] })),
    );
  }
}
