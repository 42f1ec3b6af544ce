import { ArrayMinSize, ArrayUnique, IsArray, IsIn, IsOptional, IsString } from 'class-validator';
import { projectionSet } from '../../../projections/projection-set.js';
import { OptionalBody, StrictBody } from '../../http/validation.js';

const PROJECTIONS = projectionSet.map(({ name }) => name);

/** `POST /v1/audits` (`api.md` 6). A misspelt member would audit something else than was meant, so it is refused. */
@OptionalBody()
@StrictBody()
export class RequestAuditDto {
  /** Names of projections; absent: all. */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(PROJECTIONS, { each: true })
  projections?: string[] | null;

  /** Only the rows of this session and of all below it. */
  @IsOptional()
  @IsString()
  session?: string | null;
}
