import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AUTH_OPTIONS } from './auth-options.js';
import type { AuthOptions } from './auth-options.js';
import { PrincipalGuard } from './principal.guard.js';

/** Closes every route of the application but those marked `@Public()`. */
@Module({})
export class AuthModule {
  static forRoot(options: AuthOptions): DynamicModule {
    return {
      module: AuthModule,
      global: true,
      providers: [
        { provide: AUTH_OPTIONS, useValue: options },
        { provide: APP_GUARD, useClass: PrincipalGuard },
      ],
      exports: [AUTH_OPTIONS],
    };
  }
}
