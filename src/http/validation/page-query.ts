import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';

export type SortOrder = 'asc' | 'desc';

/**
 * contract/sessions.md 1.4. An endpoint with other defaults extends this and gives the fields new initial values.
 * A malformed cursor is not for this class: it is 404, through the same reading as ids in paths.
 */
export class PageQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1000)
  limit = 20;

  @IsOptional()
  @IsString()
  after?: string;

  @IsOptional()
  @IsString()
  before?: string;

  @IsIn(['asc', 'desc'])
  order: SortOrder = 'desc';
}
