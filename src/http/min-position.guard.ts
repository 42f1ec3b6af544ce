import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ReadModels } from '../read-models/read-models.js';
import { parseMinPosition } from './headers.js';

/** A GET that names a position is held until the read models have come to it (design 1.4). */
@Injectable()
export class MinPositionGuard implements CanActivate {
  constructor(private readonly readModels: ReadModels) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.method !== 'GET') return true;
    const position = parseMinPosition(request.headers['rollcall-min-position']);
    if (position !== null) await this.readModels.reach(position);
    return true;
  }
}
