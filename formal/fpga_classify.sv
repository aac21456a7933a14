// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_classify, of a port with planes 0 and 2 of three. One frame is followed; its words say
/// that they are its, which is the first, and how many came before: in bytes 62 and 63 of a word,
/// which no header has that is looked at. What is to become of it is worked out here from its first
/// 128 bytes, as docs/design/boards/classify.md has it.
module formal_fpga_classify #(
    localparam int unsigned NumPlanes = 3,
    localparam logic [NumPlanes-1:0] Planes = 3'b101
) (
    input logic clk_i,
    input logic reset_i,
    input logic tvalid_i,
    input logic [511:0] rest_i,
    input logic [63:0] tkeep_i,
    input logic tlast_i,
    input logic tuser_i,
    input logic follow_i
);
  `MRC_RESET

  // Registers that stand.
  logic [47:0] mac_i;
  logic [NumPlanes-1:0][127:0] ip_i;
  logic [NumPlanes-1:0][47:0] usid_i;
  logic [15:0] udp_port_i;
  logic udp_only_i, promisc_i, side_i;
  always_ff @(posedge clk_i) begin
    mac_i <= mac_i;
    ip_i <= ip_i;
    usid_i <= usid_i;
    udp_port_i <= udp_port_i;
    udp_only_i <= udp_only_i;
    promisc_i <= promisc_i;
    side_i <= side_i;
  end

  logic reset_o, side_tvalid_o, tlast_o, tuser_o, mrc_o, off_o, stray_o;
  logic [NumPlanes-1:0] tvalid_o;
  logic [511:0] tdata_i, tdata_o;
  logic [63:0] tkeep_o;

  mrc_fpga_classify #(
      .NumPlanes(NumPlanes),
      .Planes(Planes)
  ) dut (
      .*
  );

  // ---- what a frame is, by its bytes

  function automatic logic port_known(logic [7:0] high, logic [7:0] low, logic [15:0] port,
                                      logic only);
    return (high == port[15:8] && low == port[7:0])
        || (!only && high == 8'h12 && low == 8'hB7) || (!only && high == 8'h13 && low == 8'h6B);
  endfunction

  function automatic logic udp_in(logic [1023:0] f, logic [63:0] second_keep, int unsigned head,
                                  logic [15:0] port, logic only);
    return f[8*head+4+:4] == 4'd6 && f[8*(head+6)+:8] == 8'd17
        && port_known(f[8*(head+42)+:8], f[8*(head+43)+:8], port, only)
        && (head + 43 < 64 || second_keep[6'(head+43)]);
  endfunction

  function automatic logic is_mrc(logic [1023:0] f, logic [63:0] second_keep, logic [15:0] port,
                                  logic only);
    logic yes;
    yes = 1'b0;
    if (f[8*20+:8] == 8'd41) begin
      yes = udp_in(f, second_keep, 54, port, only);
    end else if (f[8*20+:8] == 8'd43) begin
      yes = udp_in(f, second_keep, 78, port, only) && f[8*54+:8] == 8'd41 && f[8*55+:8] == 8'd2
          && f[8*56+:8] == 8'd4 && (f[8*57+:8] == 8'd0 || f[8*57+:8] == 8'd1);
    end else begin
      yes = udp_in(f, second_keep, 14, port, only);
    end
    return yes && f[8*12+:8] == 8'h86 && f[8*13+:8] == 8'hDD && f[8*14+4+:4] == 4'd6;
  endfunction

  function automatic logic [NumPlanes-1:0] planes_at(logic [1023:0] f,
      logic [NumPlanes-1:0][127:0] ip, logic [NumPlanes-1:0][47:0] usid);
    logic [127:0] dst;
    for (int unsigned i = 0; i < 16; i++) begin
      dst[127-8*i-:8] = f[8*(38+i)+:8];
    end
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      planes_at[p] = (ip[p] != '0 && ip[p] == dst) || (usid[p] != '0 && usid[p] == dst[127:80]);
    end
  endfunction

  function automatic logic is_mine(logic [1023:0] f, logic [47:0] mac);
    logic [47:0] dst;
    for (int unsigned i = 0; i < 6; i++) begin
      dst[47-8*i-:8] = f[8*i+:8];
    end
    return dst == mac;
  endfunction

  // ---- the frame that is followed; inside_q: a frame has come out that has not ended, by last_q

  logic come, inside_q, its;
  logic [NumPlanes:0] ways, last_q;
  logic [2:0] begun_q, reported_q, at_q;
  assign ways = {side_tvalid_o, tvalid_o};
  assign come = ways != '0;
  assign its = tdata_o[8*63+1];
  logic word_in, now, mine, first_q, open_q, followed_q, wait_q, known_q, way_side_q, way_side_d;
  logic [2:0] in_q, out_q;
  logic [1023:0] frame;
  logic [511:0] head_q;
  logic [NumPlanes-1:0] planes, way_q, way_d;
  logic decide, mrc;

  assign word_in = tvalid_i && !reset_i;
  assign now = word_in && first_q && follow_i && !followed_q;
  assign mine = now || (word_in && open_q);
  always_comb begin
    tdata_i = rest_i;
    tdata_i[8*62+:3] = mine ? in_q : 3'd0;
    tdata_i[8*63+:2] = {mine, now};
  end

  // Known when the second word stands at the pins, or when there will be none.
  assign frame = {tdata_i, head_q};
  assign decide = (now && tlast_i) || (wait_q && (reset_i || tvalid_i));
  assign mrc = wait_q && word_in && is_mrc(frame, tkeep_i, udp_port_i, udp_only_i);
  assign planes = planes_at(frame, ip_i, usid_i) & Planes;
  always_comb begin
    way_d = '0;
    if (mrc && (promisc_i || is_mine(frame, mac_i))) begin
      if (planes[0]) begin
        way_d = 3'b001;
      end else if (planes[2]) begin
        way_d = 3'b100;
      end else if (promisc_i) begin
        way_d = 3'b001;
      end
    end
    way_side_d = side_i && way_d == '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      {open_q, followed_q, wait_q, known_q} <= '0;
      {in_q, out_q} <= '0;
    end else begin
      first_q <= reset_i || (word_in ? tlast_i : first_q);
      open_q <= !reset_i && (mine ? !tlast_i : open_q);
      followed_q <= followed_q || now;
      wait_q <= (now && !tlast_i) || (wait_q && !decide);
      known_q <= known_q || decide;
      in_q <= in_q + 3'(mine);
      out_q <= out_q + 3'(come && tdata_o[8*63+1]);
    end
  end
  always_ff @(posedge clk_i) begin
    if (now) begin
      head_q <= tdata_i;
      at_q <= begun_q;
    end
    if (decide) begin
      way_q <= way_d;
      way_side_q <= way_side_d;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      begun_q <= '0;
      reported_q <= '0;
    end else begin
      inside_q <= !reset_o && (come ? !tlast_o : inside_q);
      begun_q <= begun_q + 3'(word_in && first_q);
      reported_q <= reported_q + 3'(mrc_o) + 3'(off_o) + 3'(side_tvalid_o && !inside_q);
    end
  end
  always_ff @(posedge clk_i) last_q <= come ? ways : last_q;

  logic silent;
  assign silent = !dut.in_valid_q && !dut.valid_q && !come && !off_o;

  `MRC_PROVE(ours_to_lane, !(come && its && way_q != '0) || tvalid_o == way_q)
  `MRC_PROVE(others_aside, !(come && its && way_q == '0) || (tvalid_o == '0 && way_side_q))
  `MRC_PROVE(known, !(come && its) || known_q)
  `MRC_PROVE(in_order, !(come && its)
      || (tdata_o[8*62+:3] == out_q && tdata_o[8*63] == !inside_q))
  `MRC_PROVE(none_lost, !(silent && known_q && {way_side_q, way_q} != '0) || out_q == in_q)
  `MRC_PROVE(one_way, !(come && inside_q) || ways == last_q)
  `MRC_PROVE(mrc_counted, mrc_o == (tvalid_o != '0 && !inside_q))
  `MRC_PROVE(all_counted, !silent || reported_q == begun_q)
  `MRC_PROVE(in_turn, !(come && its && !inside_q) || reported_q == at_q)
  `MRC_PROVE(reset_alone, !(reset_o && come))
  `MRC_COVER(ours_to_lane, tvalid_o == 3'b100 && its && tlast_o && out_q == 3'd1 && !promisc_i)
  `MRC_COVER(others_aside, side_tvalid_o && its && tlast_o && out_q == 3'd1 && dut.way_q == '0)
  `MRC_COVER(known, come && its && !inside_q)
  `MRC_COVER(in_order, come && its && out_q == 3'd3)
  `MRC_COVER(none_lost, silent && known_q && way_q == 3'b001 && out_q == 3'd3)
  `MRC_COVER(one_way, come && inside_q && last_q == 4'b0001)
  `MRC_COVER(mrc_counted, mrc_o && reported_q == 3'd1)
  `MRC_COVER(all_counted, silent && reported_q == 3'd3 && way_q == 3'b100 && !way_side_q)
  `MRC_COVER(in_turn, come && its && !inside_q && at_q == 3'd3)
  `MRC_COVER(reset_alone, reset_o && inside_q)
  `MRC_COVER(dropped, off_o && reported_q == 3'd1)

  // ---- for the induction: where the words of the frame are

  // Of the word in in_q: is it the first of a frame? left_q: out_q of dut is a word that has left
  // in the cycle before, left_first_q its first one; so many of the frame's were before. cur_q: the
  // frame of which dut has given the first word, and not the last, is the one that is followed.
  logic in_first_q, left_q, left_first_q, cur_q, take1, a1, a2, a3, wait2;
  logic [2:0] left_count_q;
  assign take1 = dut.in_valid_q && !dut.in_reset_q;
  assign a1 = take1 && dut.in_q.data[8*63+1];
  assign a2 = dut.valid_q && dut.word_q.data[8*63+1];
  assign a3 = left_q && dut.out_q.data[8*63+1];
  assign wait2 = dut.valid_q && !dut.word_q.last && !dut.in_valid_q && !dut.in_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_first_q <= 1'b1;
      {left_q, left_first_q, cur_q} <= '0;
      left_count_q <= '0;
    end else begin
      in_first_q <= first_q;
      left_q <= dut.leave;
      left_first_q <= dut.first_q;
      cur_q <= !dut.in_reset_q && (dut.leave ? a2 && !dut.word_q.last : cur_q);
      left_count_q <= left_count_q + 3'(a3);
    end
  end

  `MRC_HELP(first, first_q == (dut.in_reset_q || (dut.in_valid_q ? dut.in_q.last : in_first_q)))
  `MRC_HELP(in_first, in_first_q == (dut.valid_q ? dut.word_q.last : dut.first_q))
  `MRC_HELP(colors1, !take1
      || (a1 == (in_first_q ? dut.in_q.data[8*63] : dut.valid_q ? a2 : cur_q)
          && (dut.in_q.data[8*63] == (a1 && in_first_q))))
  `MRC_HELP(colors2, !dut.valid_q
      || (dut.word_q.data[8*63] == (a2 && dut.first_q) && (dut.first_q || a2 == cur_q)))
  `MRC_HELP(colors3, !left_q || dut.out_q.data[8*63] == (a3 && left_first_q))
  `MRC_HELP(open, open_q == (!dut.in_reset_q && (dut.in_valid_q ? a1 && !dut.in_q.last
      : !in_first_q && (dut.valid_q ? a2 : cur_q))))
  `MRC_HELP(once, 32'(a1 && in_first_q) + 32'(a2 && dut.first_q) + 32'(a3 && left_first_q) <= 32'd1)
  `MRC_HELP(chosen, followed_q || !(a1 || a2 || a3 || cur_q || open_q || wait_q || known_q)
      && in_q == '0 && left_count_q == '0 && out_q == '0)
  `MRC_HELP(waits, wait_q == ((a1 && in_first_q && !dut.in_q.last) || (a2 && dut.first_q && wait2)))
  `MRC_HELP(knows, known_q == (followed_q && !wait_q))
  `MRC_HELP(not_before, !(a1 && in_first_q) && !(a2 && dut.first_q)
      || (left_count_q == '0 && out_q == '0 && !a3 && !cur_q))
  `MRC_HELP(not_before2, !(a1 && in_first_q) || !a2)
  `MRC_HELP(counts, in_q == left_count_q + 3'(a3) + 3'(a2) + 3'(a1))
  `MRC_HELP(index3, !a3 || dut.out_q.data[8*62+:3] == left_count_q)
  `MRC_HELP(index2, !a2 || dut.word_q.data[8*62+:3] == left_count_q + 3'(a3))
  `MRC_HELP(index1, !a1 || dut.in_q.data[8*62+:3] == left_count_q + 3'(a3) + 3'(a2))
  `MRC_HELP(seen, out_q == ((known_q && {way_side_q, way_q} != '0) ? left_count_q : 3'd0))
  `MRC_HELP(come_left, !come || left_q)
  `MRC_HELP(at_rest, !dut.reset_q || (!dut.valid_q && dut.first_q))
  `MRC_HELP(way_out, !a3 || (known_q && ways == {way_side_q, way_q}))
  `MRC_HELP(way_cur, !cur_q || (known_q && {dut.side_way_q, dut.way_q} == {way_side_q, way_q}))
  `MRC_HELP(cur_open, !cur_q || !dut.first_q)
  logic [NumPlanes:0] current;
  assign current = {dut.side_way_q, dut.way_q};
  `MRC_HELP(current, dut.first_q || (current & (current - (NumPlanes + 1)'(1))) == '0)

  // The first word, and what is known of its way.
  `MRC_HELP(head1, !(a1 && in_first_q) || head_q == dut.in_q.data)
  `MRC_HELP(head2, !(a2 && dut.first_q) || head_q == dut.word_q.data)
  `MRC_HELP(way1, !(a1 && in_first_q && dut.in_q.last) || {way_side_q, way_q} == {side_i, 3'd0})
  logic [1023:0] frame2;
  logic mrc2;
  assign frame2 = {dut.in_q.data, dut.word_q.data};
  assign mrc2 = take1 && !dut.word_q.last && is_mrc(frame2, dut.in_q.keep, udp_port_i, udp_only_i);
  `MRC_HELP(mrc2, !(dut.valid_q && dut.first_q && dut.leave) || dut.mrc == mrc2)
  `MRC_HELP(way2, !(a2 && dut.first_q && dut.leave)
      || {way_side_q, way_q} == {dut.side, dut.lanes})
  `MRC_HELP(mine, !dut.valid_q || dut.mine_q == is_mine(frame2, mac_i))
  `MRC_HELP(at, !dut.valid_q || dut.at_q == (planes_at(frame2, ip_i, usid_i) & Planes))
  logic [511:0] w;
  assign w = dut.word_q.data;
  `MRC_HELP(ipv6, !dut.valid_q
      || dut.ipv6_q == (w[8*12+:16] == 16'hDD86 && w[8*14+4+:4] == 4'd6))
  `MRC_HELP(plain, !dut.valid_q || dut.plain_q == (w[8*20+:8] == 8'd17
      && port_known(w[8*56+:8], w[8*57+:8], udp_port_i, udp_only_i)))
  `MRC_HELP(outer, !dut.valid_q || dut.outer_q == (w[8*20+:8] == 8'd41 && w[8*54+4+:4] == 4'd6
      && w[8*60+:8] == 8'd17))
  `MRC_HELP(srh, !dut.valid_q || dut.srh_q == (w[8*20+:8] == 8'd43 && w[8*54+:8] == 8'd41
      && w[8*55+:8] == 8'd2 && w[8*56+:8] == 8'd4 && w[8*57+1+:7] == 7'd0))

  // What has come out of the frame that dut has begun.
  logic outside;
  assign outside = !reset_o && (come ? !tlast_o : inside_q);
  `MRC_HELP(outside, dut.reset_q || outside == (!dut.first_q && {dut.side_way_q, dut.way_q} != '0))
  `MRC_HELP(last_way, !outside || dut.first_q || dut.reset_q
      || (come ? ways : last_q) == {dut.side_way_q, dut.way_q})
  `MRC_HELP(begins, !come || left_first_q == !inside_q)
  `MRC_HELP(reports_mrc, mrc_o == (left_q && left_first_q && tvalid_o != '0))
  `MRC_HELP(reports_off, off_o == (left_q && left_first_q && ways == '0))
  `MRC_HELP(pending, begun_q == reported_q + 3'(take1 && in_first_q)
            + 3'(dut.valid_q && dut.first_q)
      + 3'(left_q && left_first_q))
  `MRC_HELP(turn1, !(a1 && in_first_q) || at_q + 3'd1 == begun_q)
  `MRC_HELP(turn2, !(a2 && dut.first_q) || at_q + 3'd1 == begun_q - 3'(take1 && in_first_q))
  `MRC_HELP(turn3, !(a3 && left_first_q)
      || at_q + 3'd1 == begun_q - 3'(take1 && in_first_q) - 3'(dut.valid_q && dut.first_q))
endmodule
