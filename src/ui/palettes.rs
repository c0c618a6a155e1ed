//! The colours of each theme: claimtop's own, and well-known palettes with the tints that it needs. Where one of them is too faint to be read on its own ground, a
//! tint of it is stronger here.

use super::svg;

/// The colours of a truecolor theme, as `0xRRGGBB`.
pub(super) struct Tints {
    pub(super) plain: u32,
    pub(super) dim: u32,
    pub(super) strong: u32,
    pub(super) accent: u32,
    pub(super) good: u32,
    pub(super) notice: u32,
    pub(super) warning: u32,
    pub(super) bad: u32,
    pub(super) ground: u32,
    pub(super) selected: u32,
    pub(super) bar: u32,
    pub(super) rule: u32,
}

pub(super) const DARK: Tints = Tints {
    plain: 0xc5_cb_d6,
    dim: 0x8b_93_a3,
    strong: 0xf2_f4_f8,
    accent: 0x7a_b8_ff,
    good: 0x7f_c9_8f,
    notice: 0xa9_b8_f5,
    warning: 0xe6_b4_50,
    bad: 0xff_6f_7d,
    ground: svg::DARK.paper,
    selected: 0x2b_33_45,
    bar: 0x1d_22_2e,
    rule: 0x4a_52_63,
};

pub(super) const LIGHT: Tints = Tints {
    plain: 0x2e_34_40,
    dim: 0x5f_68_78,
    strong: 0x0d_10_17,
    accent: 0x0b_5c_ad,
    good: 0x1f_6f_3a,
    notice: 0x4a_44_b3,
    warning: 0x8a_55_00,
    bad: 0xb4_16_2c,
    ground: svg::LIGHT.paper,
    selected: 0xd5_e3_f5,
    bar: 0xe9_ed_f3,
    rule: 0xb4_bc_c9,
};

/// Okabe and Ito's set on a dark ground: blue, bluish green, yellow and vermilion differ for
/// every kind of colour vision.
pub(super) const COLOR_BLIND: Tints = Tints {
    plain: 0xc8_cd_d6,
    dim: 0x93_9b_a8,
    strong: 0xff_ff_ff,
    accent: 0x56_b4_e9,
    good: 0x00_9e_73,
    notice: 0xcc_79_a7,
    warning: 0xf0_e4_42,
    bad: 0xe6_7a_1e,
    ground: svg::DARK.paper,
    selected: 0x24_34_4a,
    bar: 0x1b_20_2a,
    rule: 0x4a_52_63,
};

pub(super) const GRUVBOX: Tints = Tints {
    plain: 0xeb_db_b2,
    dim: 0xa8_99_84,
    strong: 0xfb_f1_c7,
    accent: 0x83_a5_98,
    good: 0xb8_bb_26,
    notice: 0xd3_86_9b,
    warning: 0xfa_bd_2f,
    bad: 0xff_6a_55,
    ground: 0x28_28_28,
    selected: 0x45_40_3d,
    bar: 0x3c_38_36,
    rule: 0x66_5c_54,
};

pub(super) const NORD: Tints = Tints {
    plain: 0xd8_de_e9,
    dim: 0x9a_a5_b8,
    strong: 0xec_ef_f4,
    accent: 0x88_c0_d0,
    good: 0xa3_be_8c,
    notice: 0xb4_8e_ad,
    warning: 0xeb_cb_8b,
    bad: 0xe0_82_8b,
    ground: 0x2e_34_40,
    selected: 0x43_4c_5e,
    bar: 0x3b_42_52,
    rule: 0x61_6e_88,
};

pub(super) const DRACULA: Tints = Tints {
    plain: 0xf8_f8_f2,
    dim: 0xa4_ab_c8,
    strong: 0xff_ff_ff,
    accent: 0x8b_e9_fd,
    good: 0x50_fa_7b,
    notice: 0xbd_93_f9,
    warning: 0xff_b8_6c,
    bad: 0xff_6e_6e,
    ground: 0x28_2a_36,
    selected: 0x44_47_5a,
    bar: 0x34_37_46,
    rule: 0x62_72_a4,
};

pub(super) const SOLARIZED_DARK: Tints = Tints {
    plain: 0x93_a1_a1,
    dim: 0x83_94_96,
    strong: 0xfd_f6_e3,
    accent: 0x5a_a9_e6,
    good: 0xa3_b3_2b,
    notice: 0x9a_9d_e0,
    warning: 0xd3_a4_1a,
    bad: 0xf0_70_6c,
    ground: 0x00_2b_36,
    selected: 0x0d_46_55,
    bar: 0x07_36_42,
    rule: 0x58_6e_75,
};

pub(super) const SOLARIZED_LIGHT: Tints = Tints {
    plain: 0x58_6e_75,
    dim: 0x65_7b_83,
    strong: 0x07_36_42,
    accent: 0x1f_6f_b5,
    good: 0x64_7a_00,
    notice: 0x6c_71_c4,
    warning: 0x94_6f_00,
    bad: 0xcb_2f_2c,
    ground: 0xfd_f6_e3,
    selected: 0xe4_dc_c3,
    bar: 0xee_e8_d5,
    rule: 0x93_a1_a1,
};

pub(super) const CATPPUCCIN: Tints = Tints {
    plain: 0xcd_d6_f4,
    dim: 0xa6_ad_c8,
    strong: 0xff_ff_ff,
    accent: 0x89_b4_fa,
    good: 0xa6_e3_a1,
    notice: 0xcb_a6_f7,
    warning: 0xf9_e2_af,
    bad: 0xf3_8b_a8,
    ground: 0x1e_1e_2e,
    selected: 0x31_32_44,
    bar: 0x18_18_25,
    rule: 0x58_5b_70,
};

pub(super) const CATPPUCCIN_LATTE: Tints = Tints {
    plain: 0x4c_4f_69,
    dim: 0x6c_6f_85,
    strong: 0x1e_20_30,
    accent: 0x1e_66_f5,
    good: 0x2c_7a_20,
    notice: 0x88_39_ef,
    warning: 0x9a_5b_00,
    bad: 0xd2_0f_39,
    ground: 0xef_f1_f5,
    selected: 0xcc_d0_da,
    bar: 0xe6_e9_ef,
    rule: 0x9c_a0_b0,
};

pub(super) const TOKYO_NIGHT: Tints = Tints {
    plain: 0xc0_ca_f5,
    dim: 0x80_89_b3,
    strong: 0xff_ff_ff,
    accent: 0x7a_a2_f7,
    good: 0x9e_ce_6a,
    notice: 0xbb_9a_f7,
    warning: 0xe0_af_68,
    bad: 0xf7_76_8e,
    ground: 0x1a_1b_26,
    selected: 0x29_2e_42,
    bar: 0x16_16_1e,
    rule: 0x56_5f_89,
};
