import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { isPublicRoute } from '../auth/request-principal.js';
import { ReadModels } from '../read-models/read-models.js';
import { parseMinPosition } from './headers.js';

/**
 * A GET that names a position is held until the read models have come to it (design 1.4). Not on public routes: there
 * a stranger could hold requests open and have the log asked.
 */
@Injectable()
export class MinPositionGuard implements CanActivate {
  constructor(
    private readonly readModels: ReadModels,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.method !== 'GET' || isPublicRoute(this.reflector, context)) return true;
    const position = parseMinPosition(request.headers['rollcall-min-position']);
    if (position !== null) await this.readModels.reach(position);
    return true;
  }
}
