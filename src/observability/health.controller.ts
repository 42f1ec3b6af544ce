import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '../auth/request-principal.js';
import { Health, type HealthReport } from './health.js';

@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  /** 200 only while the log, the database and the projections are usable (`api.md` 6). */
  @Get()
  @Public()
  async report(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthReport> {
    const report = await this.health.report();
    void reply.code(report.status === 'ok' ? 200 : 503).header('cache-control', 'no-store');
    return report;
  }
}
