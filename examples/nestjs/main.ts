import "reflect-metadata";
import { Controller, Get, Inject, Module, UseGuards, UseInterceptors } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { LatencyInterceptor, LimitGuard, Limits, LimitsModule } from "./limits.ts";

@Controller()
@UseInterceptors(LatencyInterceptor)
class OrdersController {
  @Inject(Limits) private readonly limits!: Limits;

  @Get("orders")
  @UseGuards(LimitGuard)
  orders(): string[] {
    return ["tea", "coffee"];
  }

  @Get("latency")
  async latency(): Promise<{ count: number; percentiles: Record<number, number> }> {
    const { count, percentiles } = await this.limits.latency.stats({ span: "5m", percentiles: [50, 99] });
    return { count, percentiles };
  }
}

@Module({ imports: [LimitsModule], controllers: [OrdersController] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ["error", "warn"] });
app.enableShutdownHooks(); // SIGTERM ends the requests, then calls onApplicationShutdown
await app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
console.log(await app.getUrl());
