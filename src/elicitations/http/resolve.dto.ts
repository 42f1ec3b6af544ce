import { IsIn, IsObject, IsOptional } from 'class-validator';
import type { ElicitationAction } from '../domain/events.js';

export const ACTIONS: readonly ElicitationAction[] = ['accept', 'decline', 'cancel'];

/** `contract/sessions.md` 7.4. `content` is looked at on accept alone. */
export class ResolveDto {
  @IsIn(ACTIONS)
  action: ElicitationAction;

  @IsOptional()
  @IsObject()
  content?: Record<string, unknown> | null;
}
