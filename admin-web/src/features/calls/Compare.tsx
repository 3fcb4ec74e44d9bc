import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { Select } from "../../ui/Toolbar.tsx";
import { callsQuery, diffPath, type Where } from "./queries.ts";

type Props = { where: Where; from: number; to?: number };

/** Chooses the other call of a comparison; there is nothing to choose in a run of one call. */
export function Compare({ where, from, to }: Props) {
  const calls = useQuery(callsQuery(where)).data ?? [];
  const navigate = useNavigate();
  const others = calls.filter((each) => each.call !== from);
  if (others.length === 0) return null;
  return (
    <Select
      label="Compare with"
      value={to === undefined ? "" : String(to)}
      options={[
        ...(to === undefined ? [["", "…"] as const] : []),
        ...others.map((each) => [String(each.call), `call ${each.call}`] as const),
      ]}
      onChange={(value) => {
        if (value) void navigate(diffPath(where, from, Number(value)));
      }}
    />
  );
}
