import { Type } from 'class-transformer';
import { IsArray, IsBoolean, IsIn, IsOptional, IsString, ValidateIf } from 'class-validator';
import {
  IsLabels,
  IsSafeText,
  MaxCodePoints,
  OptionalBody,
  PageQuery,
  StrictBody,
} from '../../http/validation.js';
import type { CloseReason } from '../domain/events.js';
import type { SessionKind, SessionSort } from '../queries/list-sessions.js';

/** Code points (`contract/sessions.md` 1.8). */
const TITLE_LENGTH = 768;
const NAME_LENGTH = 128;

/** `POST /v1/sessions`, `contract/sessions.md` 2.1. */
export class CreateSessionDto {
  /** May be left out exactly for children (`api.md` 2). */
  @ValidateIf(
    (body: CreateSessionDto) => (body.parent_session_id ?? null) === null || (body.agent_id ?? null) !== null,
  )
  @IsString()
  agent_id?: string | null;

  @IsOptional()
  @IsString()
  parent_session_id?: string | null;

  @IsOptional()
  @IsString()
  @IsSafeText()
  @MaxCodePoints(TITLE_LENGTH)
  title?: string | null;

  /** Stated, it beats what the title says (design 13.5). */
  @IsOptional()
  @IsString()
  @IsSafeText()
  @MaxCodePoints(NAME_LENGTH)
  tool?: string | null;

  /** Stated, it beats what the title says (design 13.5). */
  @IsOptional()
  @IsString()
  @IsSafeText()
  @MaxCodePoints(TITLE_LENGTH)
  session_name?: string | null;

  @IsOptional()
  @IsLabels()
  labels?: Record<string, string> | null;

  /** Refused unless empty: what is not kept is not accepted. */
  @IsOptional()
  @IsArray()
  initial_items?: unknown[] | null;
}

/** `PATCH /v1/sessions/{id}`; a member that is left out stays as it is. */
@StrictBody()
export class PatchSessionDto {
  @IsOptional()
  @IsString()
  @IsSafeText()
  @MaxCodePoints(TITLE_LENGTH)
  title?: string | null;

  @IsOptional()
  @IsLabels()
  labels?: Record<string, string> | null;
}

/** `POST /v1/sessions/{id}/close`. */
@OptionalBody()
@StrictBody()
export class CloseSessionDto {
  @IsOptional()
  @IsIn(['done', 'cancelled', 'compacted'])
  reason?: CloseReason | null;

  @IsOptional()
  @IsString()
  successor_session_id?: string | null;
}

export class SnapshotQuery {
  @Type(() => Boolean)
  @IsBoolean()
  include_items = true;

  @Type(() => Boolean)
  @IsBoolean()
  include_liveness = true;

  /** Understood for the contract's sake: the status is never stale here. */
  @Type(() => Boolean)
  @IsBoolean()
  refresh_state = false;
}

export class DeleteSessionQuery {
  /** Understood for the contract's sake: Rollcall keeps no branches. */
  @Type(() => Boolean)
  @IsBoolean()
  delete_branch = false;
}

export class SessionListQuery extends PageQuery {
  @IsIn(['created_at', 'updated_at'])
  sort_by: SessionSort = 'created_at';

  @IsIn(['default', 'sub_agent', 'any'])
  kind: SessionKind = 'default';

  @IsOptional()
  @IsString()
  @IsSafeText()
  agent_id?: string;

  @IsOptional()
  @IsString()
  @IsSafeText()
  agent_name?: string;
}

export class ChildListQuery extends PageQuery {
  @IsOptional()
  @IsString()
  @IsSafeText()
  tool?: string;

  @IsOptional()
  @IsString()
  @IsSafeText()
  session_name?: string;
}

export class ItemListQuery extends PageQuery {
  override limit = 100;
  override order: 'asc' | 'desc' = 'asc';
}
