/** What controllers and DTOs take from the edge; fields themselves use class-validator and `@Type()`. */
export { OptionalBody, StrictBody } from './validation/body-rules.js';
export { DtoPipe, toDto } from './validation/dto.pipe.js';
export { IsLabels, labelsFault, MAX_LABEL_KEY, MAX_LABELS } from './validation/labels.js';
export { PageQuery } from './validation/page-query.js';
export type { SortOrder } from './validation/page-query.js';
export { IsSafeText, MaxCodePoints } from './validation/text-rules.js';
