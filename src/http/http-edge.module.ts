import { Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { EdgeExceptionFilter } from './exception.filter.js';
import { DtoPipe } from './validation.js';

/** Validation and error answers for every controller; the transport half of the edge is `createHttpAdapter`. */
@Module({
  providers: [
    { provide: APP_PIPE, useClass: DtoPipe },
    { provide: APP_FILTER, useClass: EdgeExceptionFilter },
  ],
})
export class HttpEdgeModule {}
