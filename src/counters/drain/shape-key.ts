import { adoptStoredZone } from "../counter/agreement.ts";
import { extendsLayout } from "../counter/format/layout.ts";
import type { ReadTarget } from "../counter/read.ts";
import { look } from "../counter/steps/look.ts";
import { setAside } from "../counter/steps/set-aside.ts";
import { otherLayout } from "./diagnosis.ts";

/** The key that holds the layout of all shards. Every process reads it before it counts, reads or drains. */
export interface LayoutDiagnosis {
  key: string;
  /** The stored layout. Undefined: none, and the next process that counts writes it. */
  layout: string | undefined;
  verdict: "fits" | "other-layout" | "damaged";
  /** Describes the problem; empty if there is none. */
  note: string;
}

export async function diagnoseLayout(target: ReadTarget): Promise<LayoutDiagnosis> {
  await adoptStoredZone(target);
  const { store, shapeKey: key, layout } = target;
  const { type, layout: own } = await store.run(look, key, null);
  const found = { key, layout: own };
  if (type !== "none" && (type !== "hash" || own === undefined))
    return { ...found, verdict: "damaged", note: type === "hash" ? "it has no @layout" : `the key holds a ${type}` };
  if (own === undefined || own === layout || extendsLayout(layout, own)) return { ...found, verdict: "fits", note: "" };
  return { ...found, verdict: "other-layout", note: otherLayout(own, layout) };
}

/** Renames a key that holds another layout or cannot be read. A key with a newer layout is intact and stays. */
export async function setLayoutAside(target: ReadTarget): Promise<void> {
  const { key, verdict, layout = "" } = await diagnoseLayout(target);
  if (verdict === "fits" || extendsLayout(layout, target.layout)) return;
  const { type, layout: stored, born } = await target.store.run(look, key, null);
  const seen = `${type} ${stored ?? "-"} ${born ?? "-"}`;
  await target.store.run(setAside, key, { aside: `${key}:aside:${Date.now()}`, seen });
}
