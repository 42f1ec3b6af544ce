import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Max,
  Min,
  MinLength,
} from 'class-validator';
import { IsSafeText, MaxCodePoints } from '../../http/validation.js';
import { ACTIONS } from '../../elicitations/http/resolve.dto.js';
import type { ElicitationAction } from '../../elicitations/domain/events.js';
import type { ReportedStatus } from '../domain/events.js';
import { PROMPT_ID_LENGTH } from './prompt-id.js';

const ID_LENGTH = 255;
/** The last second of the year 9999, which every calendar still knows. */
const LATEST_TIME = 253_402_300_799;
/** Of a Postgres `integer`. */
const LARGEST_COUNT = 2_147_483_647;

/** `POST /v1/sessions/{id}/events`, `contract/sessions.md` 6. */
export class PostEventDto {
  @IsString()
  type: string;

  @IsOptional()
  @IsObject()
  data?: Record<string, unknown> | null;

  @IsOptional()
  @IsString()
  model_override?: string | null;

  @IsOptional()
  @IsArray()
  tools?: unknown[] | null;

  @IsOptional()
  @IsString()
  created_by?: string | null;
}

export class ConversationItemData {
  @IsString()
  item_type: string;

  @IsObject()
  item_data: Record<string, unknown>;

  @IsOptional()
  @IsString()
  @IsSafeText()
  @MinLength(1)
  @MaxCodePoints(ID_LENGTH)
  response_id?: string | null;
}

export class AssistantMessageData {
  @IsString()
  @MinLength(1)
  agent: string;

  @IsString()
  text: string;

  @IsOptional()
  @IsString()
  @IsSafeText()
  @MinLength(1)
  @MaxCodePoints(ID_LENGTH)
  response_id?: string | null;
}

export class SessionStatusData {
  @IsIn(['idle', 'running', 'waiting', 'failed'])
  status: ReportedStatus;

  @IsOptional()
  @IsString()
  @IsSafeText()
  @MaxCodePoints(ID_LENGTH)
  response_id?: string | null;

  @IsOptional()
  @IsString()
  output?: string | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(LARGEST_COUNT)
  background_task_count?: number | null;

  @IsOptional()
  @IsString()
  blocked_on?: string | null;

  @IsOptional()
  @IsBoolean()
  reauth_required?: boolean | null;
}

export class McpElicitationData {
  @IsString()
  @MinLength(1)
  message: string;

  @IsOptional()
  @IsObject()
  requestedSchema?: Record<string, unknown> | null;

  @IsOptional()
  @IsIn(['form', 'url'])
  mode?: 'form' | 'url' | null;

  @IsOptional()
  @IsString()
  url?: string | null;

  @IsOptional()
  @IsString()
  @IsSafeText()
  @MaxCodePoints(ID_LENGTH)
  response_id?: string | null;

  /** Epoch seconds. */
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(LATEST_TIME)
  expires_at?: number | null;
}

export class ApprovalData {
  @IsString()
  @IsSafeText()
  @MinLength(1)
  @MaxCodePoints(PROMPT_ID_LENGTH)
  elicitation_id: string;

  @IsIn(ACTIONS)
  action: ElicitationAction;

  @IsOptional()
  @IsObject()
  content?: Record<string, unknown> | null;
}

export class ElicitationResolvedData {
  @IsString()
  @MinLength(1)
  elicitation_id: string;
}

export class MessageData {
  @IsIn(['user', 'assistant'])
  role: 'user' | 'assistant';

  @IsArray()
  content: unknown[];
}
