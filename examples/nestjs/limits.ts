// A module with the limiter and the series, a guard and an interceptor that use them.
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  type OnApplicationShutdown,
} from "@nestjs/common";
import type { Request, Response } from "express";
import { Limiter, redisStore, Series, slidingWindow } from "oriel";
import { clientKey, problemOf, rateLimitHeaders } from "oriel/http";
import { finalize, type Observable } from "rxjs";

@Injectable()
export class Limits implements OnApplicationShutdown {
  readonly store = redisStore(process.env.REDIS_URL ?? "redis://127.0.0.1:6379");
  readonly limiter = new Limiter(this.store, [slidingWindow({ limit: 20, span: "10s" })], { name: "nest" });
  readonly latency = new Series(this.store, "nest:latency", { retention: "1h" });

  /** Nest calls it after the last request, if the application has `enableShutdownHooks()`. */
  async onApplicationShutdown(): Promise<void> {
    await this.latency.close();
    await this.store.close();
  }
}

/** Denies with 429 and the draft's header fields. */
@Injectable()
export class LimitGuard implements CanActivate {
  @Inject(Limits) private readonly limits!: Limits;

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { ip } = http.getRequest<Request>();
    const decision = await this.limits.limiter.take(clientKey(ip));
    http.getResponse<Response>().set(rateLimitHeaders(decision));
    if (decision.allowed) return true;
    const { status, body } = problemOf(decision);
    throw new HttpException(JSON.parse(body), status);
  }
}

@Injectable()
export class LatencyInterceptor implements NestInterceptor {
  @Inject(Limits) private readonly limits!: Limits;

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const begunMs = performance.now();
    return next.handle().pipe(finalize(() => this.limits.latency.observe(performance.now() - begunMs)));
  }
}

@Module({ providers: [Limits, LimitGuard, LatencyInterceptor], exports: [Limits, LimitGuard, LatencyInterceptor] })
export class LimitsModule {}
