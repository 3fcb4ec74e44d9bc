import { useSearchParams } from "react-router";
import { type Order, ORDERS, type Shown, SHOWN } from "./rows.ts";

/** How the list is looked at, and which part is open. It stands in the address: it can be shared. */
export type ListWish = {
  order: Order;
  shown: Shown;
  text: string;
  open: string | null;
  injections: boolean;
  /** Ask the provider for its own count, too. */
  count: boolean;
};

const oneOf = <T extends string>(known: readonly T[], found: string | null): T | undefined =>
  known.find((each) => each === found);

export function useListWish() {
  const [params, setParams] = useSearchParams();
  const wish: ListWish = {
    order: oneOf(ORDERS, params.get("order")) ?? "position",
    shown: oneOf(SHOWN, params.get("show")) ?? "all",
    text: params.get("q") ?? "",
    open: params.get("part"),
    injections: params.get("injections") === "1",
    count: params.get("count") === "provider",
  };
  const set = (changes: Partial<ListWish>) => {
    const next = { ...wish, ...changes };
    setParams(
      (now) => {
        const put = (name: string, value: string | null, silent: string | null) => {
          if (value === silent || value === null) now.delete(name);
          else now.set(name, value);
        };
        put("order", next.order, "position");
        put("show", next.shown, "all");
        put("q", next.text, "");
        put("part", next.open, null);
        put("injections", next.injections ? "1" : null, null);
        put("count", next.count ? "provider" : null, null);
        return now;
      },
      { replace: !("open" in changes), preventScrollReset: true },
    );
  };
  return { wish, set };
}
